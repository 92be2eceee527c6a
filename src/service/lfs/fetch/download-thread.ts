import { once } from 'node:events';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { LfsError } from '../../syncs/lfs-objects.ts';
import { createObjectStore } from '../object-store.ts';
import type { AddressGuard } from './address-guard.ts';
import { openStoreConnection } from './connection.ts';
import { download } from './download.ts';
import type { CheckRequest, DownloadMessage, DownloadRequest, DownloadSettings } from './downloader.ts';

/** The thread of a downloader. The main thread selects the objects and checks the URLs. */

const reportEveryMs = 100;

// Typed without validation: only startDownloader() starts this file.
const { dataFolder, workspace, idleMs, ca, signal }: DownloadSettings = workerData;
const objects = createObjectStore(dataFolder, workspace);
const connection = openStoreConnection(checkUrl, ca);

async function checkUrl(url: URL, signal: AbortSignal): ReturnType<AddressGuard> {
  const { port1, port2 } = new MessageChannel();
  const response = once(port1, 'message', { signal });
  const checkRequest: CheckRequest = { url: url.href, port: port2 };
  parentPort?.postMessage(checkRequest, [port2]);
  const [checked] = await response;
  return checked;
}

async function run({ href, headers, object, port }: DownloadRequest): Promise<void> {
  const send = (message: DownloadMessage): void => port.postMessage(message);
  let bytes = 0;
  let reported = 0;

  function reportProgress(): void {
    if (bytes !== reported) send({ kind: 'received', bytes });
    reported = bytes;
  }

  function onReceived(now: number): void {
    bytes = now;
  }

  const timer = setInterval(reportProgress, reportEveryMs);
  const options = { connection, objects, idleMs, signal, onReceived };
  try {
    const attempt = await download(options, { href: new URL(href), headers }, object);
    reportProgress();
    send({ kind: 'ended', attempt });
  } catch (error) {
    send(error instanceof LfsError ? { kind: 'refused', reason: error.message } : { kind: 'failed', error });
  } finally {
    clearInterval(timer);
  }
}

parentPort?.on('message', (request: DownloadRequest) => void run(request));
