(function () {
  "use strict";
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
    var body = table.tBodies[0];
    var column = heading.cellIndex;
    var rows = Array.from(body.rows).map(function (row) {
      return { row: row, key: value(row, column) };
    });
    rows.sort(function (a, b) { return up ? compare(a.key, b.key) : compare(b.key, a.key); });
    rows.forEach(function (sorted) { body.appendChild(sorted.row); });
    table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  }
  // Numbers are sorted in descending order first, text and program counters in ascending order.
  function natural(heading) {
    return !heading.classList.contains("n") || heading.dataset.key === "pc";
  }
  document.querySelectorAll("table.sortable th").forEach(function (heading) {
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
  // #sort=loads, or #sort=loads:up
  function follow() {
    var wanted = /^#sort=([a-z]+)(:up|:down)?$/.exec(location.hash);
    if (!wanted) return;
    document.querySelectorAll("table.sortable th").forEach(function (heading) {
      if (heading.dataset.key !== wanted[1]) return;
      sort(heading, wanted[2] ? wanted[2] === ":up" : natural(heading));
    });
  }
  window.addEventListener("hashchange", follow);
  follow();
})();
