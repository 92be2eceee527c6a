/** Suggests paths for the file to lock, folder by folder. */

const field = document.querySelector('input[data-suggestions]');
const list = document.querySelector('datalist#paths');

/** Delay after the last key, so that fast typing causes one request. */
const pauseMs = 150;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let request = new AbortController();

/** @param {HTMLInputElement} input @param {Element} suggestions */
async function suggest(input, suggestions) {
  request.abort();
  request = new AbortController();
  const { signal } = request;
  const url = `${input.dataset['suggestions']}?${new URLSearchParams({ start: input.value })}`;
  // Suggestions are optional, so errors are ignored.
  const response = await fetch(url, { signal }).catch(() => undefined);
  if (!response?.ok) return;
  const { paths } = /** @type {{ paths: string[] }} */ (await response.json());
  if (signal.aborted) return;
  suggestions.replaceChildren(
    ...paths.map((path) => {
      const option = document.createElement('option');
      option.value = path;
      return option;
    }),
  );
}

if (field instanceof HTMLInputElement && list !== null) {
  void suggest(field, list);
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => suggest(field, list), pauseMs);
  });
}
