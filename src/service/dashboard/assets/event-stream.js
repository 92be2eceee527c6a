/** Server-sent events that a page gets while it is seen. */

/** Browsers ask again by themselves when a connection breaks; when they are refused, we do. */
const againAfterMs = 5_000;

/** The service sends an event every ten seconds. Browsers may not notice a dead connection for long. */
const silenceMs = 25_000;

/**
 * @typedef {object} StreamOptions
 * @property {string} url
 * @property {Readonly<Record<string, (data: unknown) => void>>} on what to do with each event, given what the service sent as JSON
 * @property {() => void} lost nothing is heard at the moment
 * @property {() => void} signedOut the session has ended
 */

/** Gives what ends it for good. @param {StreamOptions} options @returns {() => void} */
export function followStream({ url, on, lost, signedOut }) {
  /** @type {EventSource | undefined} */
  let source;
  let timer = 0;
  let isOver = false;
  let silence = 0;

  function close() {
    clearTimeout(timer);
    clearTimeout(silence);
    source?.close();
    source = undefined;
  }

  /** An event source does not report why it was refused. */
  async function askWhy() {
    const asking = new AbortController();
    try {
      const { status } = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: asking.signal });
      return status;
    } catch {
      return undefined;
    } finally {
      asking.abort();
    }
  }

  async function refused() {
    close();
    if ((await askWhy()) === 401) signedOut();
    else if (!document.hidden) timer = window.setTimeout(open, againAfterMs);
  }

  function heard() {
    clearTimeout(silence);
    silence = window.setTimeout(() => {
      lost();
      open();
    }, silenceMs);
  }

  function open() {
    close();
    if (isOver) return;
    const opened = new EventSource(url);
    source = opened;
    heard();
    opened.addEventListener('alive', heard);
    for (const [name, act] of Object.entries(on)) {
      opened.addEventListener(name, (event) => {
        heard();
        act(JSON.parse(event.data));
      });
    }
    opened.addEventListener('error', () => {
      lost();
      if (opened.readyState === EventSource.CLOSED && opened === source) void refused();
    });
  }

  // A browser has six connections for a host over HTTP/1.1, for all of its windows: what is not seen keeps none.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) open();
    else if (!isOver) {
      close();
      lost();
    }
  });
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', (event) => {
    if (event.persisted && !document.hidden) open();
  });
  if (!document.hidden) open();
  return () => {
    isOver = true;
    close();
  };
}
