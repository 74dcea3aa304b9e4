// Sort the tables in <div class="sortable"> by a click on the head of a column; again, backwards.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".sortable table")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      let sign = -1;
      head.style.cursor = "pointer";
      head.addEventListener("click", () => {
        sign = -sign;
        const text = (row) => row.cells[column].textContent.trim();
        const order = (a, b) => {
          const [x, y] = [text(a), text(b)];
          if (x === "" || y === "") return (x === "") - (y === ""); // empty cells stay last
          const [p, q] = [Number.parseFloat(x), Number.parseFloat(y)];
          const isNumber = /^[-+\d.]/.test(x) && /^[-+\d.]/.test(y);
          return sign * (isNumber ? p - q : x.localeCompare(y, "en", { numeric: true }));
        };
        body.append(...[...body.rows].sort(order));
      });
    });
  }
});
