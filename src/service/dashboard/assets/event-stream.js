/** Server-sent events, received while the page is visible. */

/**
 * Delay before reconnecting after an error response without a Retry-After. After a broken connection, browsers reconnect
 * automatically.
 */
const retryMs = 5_000;
const maxRetryMs = 60_000;

/** The service sends an event every ten seconds. Browsers may take long to notice a dead connection. */
const silenceMs = 25_000;

/**
 * @typedef {object} StreamOptions
 * @property {string} url
 * @property {() => void} changed called at the start and after each change
 * @property {() => void} lost called when the connection is lost
 * @property {() => void} signedOut called when the session has ended
 * @property {() => void} gone called when the subject no longer exists, or may no longer be seen
 */

/** True for errors that remain if the request is repeated. @param {number} status */
export const isPermanent = (status) => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** @param {StreamOptions} options */
export function followStream({ url, changed, lost, signedOut, gone }) {
  /** @type {EventSource | undefined} */
  let source;
  let retryTimer = 0;
  let silenceTimer = 0;

  function close() {
    clearTimeout(retryTimer);
    clearTimeout(silenceTimer);
    source?.close();
    source = undefined;
  }

  /** Repeats the request, because an event source does not report the status of an error response. */
  async function checkStatus() {
    close();
    const response = await fetch(url, { headers: { accept: 'text/event-stream' } }).catch(() => undefined);
    void response?.body?.cancel();
    // A gateway may answer with 404 while the service restarts.
    const isOurs = response?.headers.get('content-type')?.startsWith('application/problem+json');
    if (response?.status === 401) signedOut();
    else if (isOurs && isPermanent(response?.status ?? 0)) gone();
    else if (!document.hidden) {
      const seconds = Number(response?.headers.get('retry-after'));
      retryTimer = window.setTimeout(open, Math.min(seconds * 1_000, maxRetryMs) || retryMs);
    }
  }

  function restartSilenceTimer() {
    clearTimeout(silenceTimer);
    silenceTimer = window.setTimeout(() => {
      lost();
      open();
    }, silenceMs);
  }

  function open() {
    close();
    const opened = new EventSource(url);
    source = opened;
    restartSilenceTimer();
    opened.addEventListener('alive', restartSilenceTimer);
    opened.addEventListener('changed', () => {
      restartSilenceTimer();
      changed();
    });
    opened.addEventListener('error', () => {
      lost();
      if (opened.readyState === EventSource.CLOSED && opened === source) void checkStatus();
    });
  }

  // Hidden pages close their connection: over HTTP/1.1, a browser has only six per host for all of its windows.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) open();
    else {
      close();
      lost();
    }
  });
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', (event) => {
    if (event.persisted && !document.hidden) open();
  });
  if (!document.hidden) open();
}
