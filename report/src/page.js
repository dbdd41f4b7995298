(function () {
  "use strict";
  function all(selector, within) { return Array.from((within || document).querySelectorAll(selector)); }
  function byId(id) { return document.getElementById(id); }

  // Sorting.
  function value(row, column) {
    var cell = row.cells[column];
    var text = cell.dataset.v;
    if (text === undefined) text = cell.classList.contains("name") ? row.dataset.k : cell.textContent;
    return text !== "" && isFinite(text) ? Number(text) : text;
  }
  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sort(heading, up) {
    var table = heading.closest("table");
    var body = table.tBodies[0];
    var column = heading.cellIndex;
    var rows = Array.from(body.rows).map(function (row) {
      return { row: row, key: value(row, column) };
    });
    rows.sort(function (a, b) { return up ? compare(a.key, b.key) : compare(b.key, a.key); });
    rows.forEach(function (sorted) { body.appendChild(sorted.row); });
    all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  }
  // Numbers are sorted in descending order first, text and program counters in ascending order.
  function natural(heading) {
    return !heading.classList.contains("n") || heading.dataset.key === "pc";
  }
  all("table.sortable thead th").forEach(function (heading) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.textContent = "";
    heading.appendChild(button);
    button.addEventListener("click", function () {
      var now = heading.getAttribute("aria-sort");
      sort(heading, now ? now === "descending" : natural(heading));
    });
  });

  // Tabs: the links to the panels become buttons.
  var nav = byId("answers");
  var panels = all(".panel");
  var list = nav.querySelector("ul");
  document.body.classList.add("tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Answers");
  nav.removeAttribute("aria-label");
  nav.setAttribute("role", "presentation");
  var tabs = all("a", list).map(function (link, i) {
    var tab = document.createElement("button");
    tab.type = "button";
    tab.id = "tab-" + panels[i].id;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panels[i].id);
    tab.append.apply(tab, Array.from(link.childNodes));
    link.parentNode.setAttribute("role", "presentation");
    link.parentNode.replaceChild(tab, link);
    panels[i].setAttribute("role", "tabpanel");
    panels[i].setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", function () { select(i); remember(); });
    return tab;
  });
  var selected = 0;
  function select(wanted) {
    selected = wanted;
    tabs.forEach(function (tab, i) {
      tab.setAttribute("aria-selected", i === wanted);
      tab.tabIndex = i === wanted ? 0 : -1;
      panels[i].hidden = i !== wanted;
    });
  }
  list.addEventListener("keydown", function (event) {
    var last = tabs.length - 1;
    var to = { ArrowRight: selected === last ? 0 : selected + 1, ArrowLeft: selected ? selected - 1 : last,
      Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(to);
    tabs[to].focus();
    remember();
  });

  // Filters by kernel and memory. A kernel is known by the name in the list of kernels, which is longer.
  var filters = byId("filters");
  var kernelFilter = byId("filter-kernel");
  var spaceFilter = byId("filter-space");
  var names = {};
  all("#kernel-launches tbody tr").forEach(function (row) {
    names[row.dataset.k] = (row.cells[0].textContent + " " + row.cells[0].title).toLowerCase();
  });
  function isOf(kernel, wanted, element) {
    if (wanted === "" || kernel === undefined) return true;
    if (/^[0-9]+$/.test(wanted)) return kernel === String(Number(wanted));
    return (names[kernel] || element.textContent.toLowerCase()).indexOf(wanted) >= 0;
  }
  function filter() {
    var kernel = kernelFilter ? kernelFilter.value.trim().toLowerCase() : "";
    var space = spaceFilter.value;
    var isActive = kernel !== "" || space !== "";
    var shown = 0, count = 0;
    all("tbody tr[data-k]").forEach(function (row) {
      var spaces = row.dataset.s || row.closest("table").dataset.s;
      var matches = isOf(row.dataset.k, kernel, row)
        && (space === "" || spaces === "" || spaces.split(" ").indexOf(space) >= 0);
      row.hidden = !matches;
      count += 1;
      shown += matches ? 1 : 0;
    });
    all(".panel [data-k]:not(tr)").forEach(function (part) {
      part.hidden = !isOf(part.dataset.k, kernel, part);
    });
    all("table").forEach(function (table) {
      var rows = Array.from(table.tBodies[0].rows);
      var box = table.closest(".scroll");
      var isEmpty = rows.length > 0 && rows.every(function (row) { return row.hidden; });
      box.hidden = isEmpty;
      if (isEmpty && !box.nextElementSibling?.matches(".none")) {
        var none = document.createElement("p");
        none.className = "note none";
        none.textContent = "No row matches the filters.";
        box.after(none);
      }
      if (box.nextElementSibling?.matches(".none")) box.nextElementSibling.hidden = !isEmpty;
    });
    panels.forEach(function (panel, i) {
      var rows = all("table.sortable tbody tr", panel);
      var label = tabs[i].querySelector(".rows");
      if (!label) return;
      if (label.dataset.all === undefined) label.dataset.all = label.textContent;
      label.textContent = isActive ? rows.filter(function (row) { return !row.hidden; }).length : label.dataset.all;
    });
    filters.querySelector("output").textContent = isActive ? shown + " of " + count + " rows match" : "";
  }
  [kernelFilter, spaceFilter].forEach(function (input) {
    if (input) input.addEventListener("input", function () { filter(); remember(); });
  });
  filters.hidden = false;

  // The address says what is shown: #shared, #shared&kernel=3&space=shared; #sort=loads, #sort=loads:up.
  function remember() {
    var parts = [panels[selected].id];
    if (kernelFilter && kernelFilter.value) parts.push("kernel=" + encodeURIComponent(kernelFilter.value));
    if (spaceFilter.value) parts.push("space=" + encodeURIComponent(spaceFilter.value));
    history.replaceState(null, "", "#" + parts.join("&"));
  }
  function follow() {
    var wanted = { kernel: "", space: "" };
    location.hash.slice(1).split("&").forEach(function (part) {
      var named = part.split("=");
      if (named.length === 2) {
        try { wanted[named[0]] = decodeURIComponent(named[1]); } catch (error) { wanted[named[0]] = ""; }
        return;
      }
      panels.forEach(function (panel, i) { if (panel.id === part) select(i); });
    });
    if (kernelFilter) kernelFilter.value = wanted.kernel;
    spaceFilter.value = wanted.space;
    if (spaceFilter.selectedIndex < 0) spaceFilter.value = "";
    filter();
    var order = /^([a-z0-9]+)(:up|:down)?$/.exec(wanted.sort || "");
    if (!order) return;
    all("table.sortable thead th").forEach(function (heading) {
      if (heading.dataset.key !== order[1]) return;
      sort(heading, order[2] ? order[2] === ":up" : natural(heading));
    });
  }
  // First what the trace has: a trace without loads of global memory may have others.
  var first = tabs.findIndex(function (tab) {
    var rows = tab.querySelector(".rows");
    return rows && rows.textContent !== "0";
  });
  select(Math.max(first, 0));
  window.addEventListener("hashchange", follow);
  follow();
})();
