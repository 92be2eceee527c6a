/**
 * A table body of any length of which only the rows in sight are in the document. The page itself scrolls, so that every
 * key and gesture does what it does elsewhere. The row with the focus stays, wherever it is.
 */

/** So much beyond the edges is there already, so that keys and quick scrolling find something. */
const beyondPx = 400;

/**
 * @template {{ readonly key: string }} Row
 * @typedef {object} WindowedOptions
 * @property {HTMLElement} body
 * @property {(row: Row) => number} heightOf in pixels
 * @property {(row: Row) => HTMLElement} make
 * @property {(element: HTMLElement, row: Row) => void} fill called whenever the row may show something else
 * @property {() => void} emptied where the focus goes when there is no row left for it
 */

/**
 * @template {{ readonly key: string }} Row
 * @param {WindowedOptions<Row>} options
 */
export function createWindowed({ body, heightOf, make, fill, emptied }) {
  /** @type {readonly Row[]} */
  let rows = [];
  /** Where each row begins, and where the last one ends. @type {number[]} */
  let tops = [0];
  /** @type {Map<string, number>} */
  let indexes = new Map();
  /** @type {Map<string, HTMLElement>} */
  const elements = new Map();
  /** @type {WeakMap<Element, string>} */
  const keys = new WeakMap();
  /** @type {HTMLElement[]} */
  let gaps = [];

  /** The row that contains a height. @param {number} height */
  function indexAt(height) {
    let [low, high] = [0, rows.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((tops[middle] ?? 0) <= height) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  function measure() {
    tops = [0];
    for (const row of rows) tops.push((tops.at(-1) ?? 0) + heightOf(row));
    indexes = new Map(rows.map(({ key }, index) => [key, index]));
  }

  /** @param {number} height */
  function gap(height) {
    const element = document.createElement('tr');
    element.setAttribute('aria-hidden', 'true');
    element.className = 'gap';
    element.style.height = `${height}px`;
    gaps.push(element);
    return element;
  }

  /** @returns {string | undefined} */
  function focusedKey() {
    const row = document.activeElement?.closest('tr');
    return row !== null && row !== undefined && body.contains(row) ? keys.get(row) : undefined;
  }

  /** Which rows are in the document, in their order. @param {string | undefined} focused */
  function wantedIndexes(focused) {
    if (rows.length === 0) return [];
    const above = -body.getBoundingClientRect().top;
    const first = indexAt(above - beyondPx);
    const last = indexAt(above + window.innerHeight + beyondPx);
    const wanted = Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
    const kept = focused === undefined ? undefined : indexes.get(focused);
    if (kept !== undefined && kept < first) wanted.unshift(kept);
    if (kept !== undefined && kept > last) wanted.push(kept);
    return wanted;
  }

  /** @param {boolean} anew whether rows may show something else than before */
  function draw(anew) {
    const focused = focusedKey();
    const wanted = wantedIndexes(focused);
    const wantedKeys = new Set(wanted.map((index) => rows[index]?.key));
    for (const element of gaps) element.remove();
    gaps = [];
    for (const [key, element] of elements) {
      if (wantedKeys.has(key)) continue;
      element.remove();
      elements.delete(key);
    }
    /** @type {ChildNode | null} */
    let next = body.firstChild;
    let end = 0;
    for (const index of wanted) {
      const row = rows[index];
      if (row === undefined) continue;
      const top = tops[index] ?? 0;
      if (top > end) body.insertBefore(gap(top - end), next);
      end = tops[index + 1] ?? top;
      let element = elements.get(row.key);
      if (element === undefined) {
        element = make(row);
        elements.set(row.key, element);
        keys.set(element, row.key);
        fill(element, row);
      } else if (anew) fill(element, row);
      element.setAttribute('aria-rowindex', String(index + 2));
      if (element === next) next = next.nextSibling;
      else body.insertBefore(element, next);
    }
    const height = tops.at(-1) ?? 0;
    if (height > end) body.insertBefore(gap(height - end), next);
  }

  /** Where a row that stays is on the screen: the one with the focus, or the first in sight. */
  function findAnchor() {
    const focused = focusedKey();
    const top = body.getBoundingClientRect().top;
    const first = focused === undefined ? indexAt(-top) : (indexes.get(focused) ?? indexAt(-top));
    return { top, first, before: rows, beforeTops: tops };
  }

  /** Scrolls so that what was in sight stays where it was. @param {ReturnType<typeof findAnchor>} anchor */
  function keepInPlace({ top, first, before, beforeTops }) {
    if (top >= 0) return;
    for (let index = first; index < before.length; index += 1) {
      const now = indexes.get(before[index]?.key ?? '');
      if (now === undefined) continue;
      window.scrollBy(0, (tops[now] ?? 0) - (beforeTops[index] ?? 0));
      return;
    }
  }

  /** @param {Element | null} active @param {number} index where the focus was */
  function keepFocus(active, index) {
    if (active === document.activeElement) return;
    if (active instanceof HTMLElement && active.isConnected) {
      active.focus({ preventScroll: true });
      return;
    }
    const row = rows[Math.min(index, rows.length - 1)];
    const element = row === undefined ? undefined : elements.get(row.key);
    const target = element?.querySelector('a, button');
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    else emptied();
  }

  let frame = 0;
  const drawSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => draw(false));
  };
  window.addEventListener('scroll', drawSoon, { passive: true });
  window.addEventListener('resize', () => {
    measure();
    drawSoon();
  });

  return {
    /** @param {readonly Row[]} next @param {'stay' | 'begin'} where whether what is in sight stays there */
    show(next, where) {
      const anchor = findAnchor();
      const key = focusedKey();
      const focus = key === undefined ? undefined : { active: document.activeElement, index: indexes.get(key) ?? 0 };
      rows = next;
      measure();
      draw(true);
      if (where === 'stay') {
        keepInPlace(anchor);
        draw(false);
      } else if (anchor.top < 0) {
        body.closest('table')?.scrollIntoView({ block: 'start' });
        draw(false);
      }
      if (focus !== undefined) keepFocus(focus.active, focus.index);
    },
    /** @param {string} key */
    elementOf: (key) => elements.get(key),
    /** @param {Element} element */
    keyOf: (element) => keys.get(element),
  };
}
