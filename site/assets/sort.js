/* Sorting and filtering of tables. Every page is complete without it. */
(function () {
  "use strict";
  function key(row, column) {
    var cell = row.cells[column], held = cell.getAttribute("data-v");
    if (cell.querySelector(".missing")) { return null; }
    return held === null ? cell.textContent.trim().toLowerCase() : parseFloat(held);
  }
  function order(a, b, sign) { // what is missing comes last, up and down
    if (a === null || b === null) { return (a === null) - (b === null); }
    if (typeof a !== typeof b) { return typeof a === "number" ? -1 : 1; }
    return a > b ? sign : a < b ? -sign : 0;
  }
  document.querySelectorAll("table[data-sort]").forEach(function (table) {
    var body = table.tBodies[0], heads = table.tHead.rows[0].cells, rows = Array.from(body.rows);
    Array.from(heads).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        Array.from(heads).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.slice().sort(function (a, b) { return order(key(a, column), key(b, column), down ? -1 : 1); })
          .forEach(function (row) { body.appendChild(row); });
      });
    });
    if (rows.length < 12) { return; }
    var label = document.createElement("label"), field = document.createElement("input"), count = document.createElement("span");
    label.className = "filter";
    field.type = "search";
    count.setAttribute("role", "status");
    label.append(table.getAttribute("data-filter") + " ", field, " ", count);
    table.closest(".scroll").before(label);
    field.addEventListener("input", function () {
      var wanted = field.value.trim().toLowerCase(), shown = 0;
      rows.forEach(function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = table.getAttribute("data-of").replace("{shown}", shown).replace("{all}", rows.length);
    });
  });
})();
