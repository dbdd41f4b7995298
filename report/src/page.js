(function () {
  "use strict";
  function all(selector, within) { return Array.from((within || document).querySelectorAll(selector)); }
  function byId(id) { return document.getElementById(id); }

  // Sorting.
  function value(row, column) {
    var cell = row.cells[column];
    var text = cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
    return text !== "" && isFinite(text) ? Number(text) : text;
  }
  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sort(heading, up) {
    var table = heading.closest("table");
    var column = heading.cellIndex;
    var rows = Array.from(table.tBodies[0].rows).map(function (row) {
      return { row: row, key: value(row, column) };
    });
    rows.sort(function (a, b) { return up ? compare(a.key, b.key) : compare(b.key, a.key); });
    rows.forEach(function (sorted) { table.tBodies[0].appendChild(sorted.row); });
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

  // Filters by kernel, access, memory and verdict. A kernel is known by both of its names in the list of kernels.
  var filters = byId("filters");
  var inputs = {};
  ["kernel", "kind", "space", "found"].forEach(function (name) {
    var input = byId("filter-" + name);
    if (!input) return;
    inputs[name] = input;
    input.addEventListener("input", function () { filter(); remember(); });
  });
  function wanted(name) {
    var input = inputs[name];
    if (!input) return "";
    return input.type === "checkbox" ? (input.checked ? "1" : "") : input.value.trim().toLowerCase();
  }
  var names = {};
  all("#kernel-sums tbody tr").forEach(function (row) {
    names[row.dataset.k] = (row.cells[0].textContent + " " + row.cells[0].title).toLowerCase();
  });
  function isOf(row, kernel) {
    if (/^[0-9]+$/.test(kernel)) return row.dataset.k === String(Number(kernel));
    return (names[row.dataset.k] || row.cells[0].textContent.toLowerCase()).indexOf(kernel) >= 0;
  }
  function filter() {
    if (!filters) return;
    var kernel = wanted("kernel"), kind = wanted("kind"), space = wanted("space"), found = wanted("found");
    var rows = all("#instructions tbody tr"), shown = 0;
    rows.forEach(function (row) {
      row.hidden = kernel !== "" && !isOf(row, kernel) || kind !== "" && row.dataset.kind !== kind
        || space !== "" && row.dataset.s !== space || found !== "" && !row.classList.contains("found");
      shown += row.hidden ? 0 : 1;
    });
    filters.querySelector("output").textContent =
      kernel + kind + space + found ? shown + " of " + rows.length + " rows match" : "";
  }
  if (filters) filters.hidden = false;

  // The address says what is shown: #kernel=3&kind=store&space=shared&found=1, #sort=share, #sort=share:up.
  function remember() {
    var parts = Object.keys(inputs).filter(wanted).map(function (name) {
      return name + "=" + encodeURIComponent(wanted(name));
    });
    history.replaceState(null, "", "#" + parts.join("&"));
  }
  function follow() {
    if (/^#row-[0-9]+$/.test(location.hash)) return reveal(byId(location.hash.slice(1)));
    var given = {};
    location.hash.slice(1).split("&").forEach(function (part) {
      var named = part.split("=");
      try { given[named[0]] = decodeURIComponent(named[1] || ""); } catch (error) { given[named[0]] = ""; }
    });
    Object.keys(inputs).forEach(function (name) {
      var input = inputs[name], text = given[name] || "";
      if (input.type === "checkbox") input.checked = text === "1";
      else input.value = text;
      if (input.selectedIndex < 0) input.value = "";
    });
    filter();
    var order = /^([a-z0-9]+)(:up|:down)?$/.exec(given.sort || "");
    if (!order) return;
    all("table.sortable thead th").forEach(function (heading) {
      if (heading.dataset.key !== order[1]) return;
      sort(heading, order[2] ? order[2] === ":up" : natural(heading));
    });
  }
  // A filter may hide the row of a link.
  function reveal(row) {
    if (!row || !row.hidden) return;
    Object.keys(inputs).forEach(function (name) { inputs[name].value = ""; inputs[name].checked = false; });
    filter();
    row.scrollIntoView({ block: "center" });
  }
  // The table begins where the cost is; the page itself stays at its top.
  function centre(row) {
    var box = row.closest(".scroll");
    var middle = row.offsetTop + row.offsetHeight / 2;
    if (middle > box.clientHeight) box.scrollTop = middle - box.clientHeight / 2;
  }
  var first = document.querySelector(".verdict a[href^='#row-']");
  if (first) centre(byId(first.hash.slice(1)));
  window.addEventListener("hashchange", follow);
  follow();
})();
