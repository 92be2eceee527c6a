import { once } from 'node:events';
import { MessageChannel, parentPort, workerData } from 'node:worker_threads';
import { LfsError } from '../../syncs/lfs-objects.ts';
import { createObjectStore } from '../object-store.ts';
import type { AddressGuard } from './address-guard.ts';
import { openStoreConnection } from './connection.ts';
import { download } from './download.ts';
import type { CheckRequest, DownloadMessage, DownloadRequest, DownloadSettings } from './downloader.ts';

/** The thread of a downloader. The main thread selects the objects and checks the URLs. */

const toldEveryMs = 100;

// Typed without validation: only startDownloader() starts this file.
const { dataFolder, workspace, idleMs, ca, signal }: DownloadSettings = workerData;
const objects = createObjectStore(dataFolder, workspace);
const connection = openStoreConnection(askGuard, ca);

async function askGuard(url: URL, signal: AbortSignal): ReturnType<AddressGuard> {
  const { port1, port2 } = new MessageChannel();
  const response = once(port1, 'message', { signal });
  const question: CheckRequest = { url: url.href, port: port2 };
  parentPort?.postMessage(question, [port2]);
  const [checked] = await response;
  return checked;
}

async function run({ href, headers, object, port }: DownloadRequest): Promise<void> {
  const tell = (message: DownloadMessage): void => port.postMessage(message);
  let bytes = 0;
  let told = 0;

  function tellReceived(): void {
    if (bytes !== told) tell({ kind: 'received', bytes });
    told = bytes;
  }

  function onReceived(now: number): void {
    bytes = now;
  }

  const timer = setInterval(tellReceived, toldEveryMs);
  const terms = { connection, objects, idleMs, signal, onReceived };
  try {
    const attempt = await download(terms, { href: new URL(href), headers }, object);
    tellReceived();
    tell({ kind: 'ended', attempt });
  } catch (error) {
    tell(error instanceof LfsError ? { kind: 'refused', reason: error.message } : { kind: 'failed', error });
  } finally {
    clearInterval(timer);
  }
}

parentPort?.on('message', (request: DownloadRequest) => void run(request));
