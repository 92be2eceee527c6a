import { extname } from 'node:path';
import { transferableAbortSignal } from 'node:util';
import { MessageChannel, type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads';
import { unlessAborted } from '../../../interface/timers.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { ObjectName } from '../oid.ts';
import type { AddressGuard } from './address-guard.ts';
import type { Download, DownloadResult } from './download.ts';

export interface DownloadSettings {
  readonly dataFolder: string;
  readonly workspace: string;
  readonly idleMs: number;
  readonly ca: readonly string[] | undefined;
  /** Cancels all downloads. */
  readonly signal: AbortSignal;
}

/** A request to the thread. Its result comes through the port. */
export interface DownloadRequest {
  readonly href: string;
  readonly headers: Download['headers'];
  readonly object: ObjectName;
  readonly port: MessagePort;
}

/** Message from the thread to the port of a download. */
export type DownloadMessage =
  | { readonly kind: 'received'; readonly bytes: number }
  | { readonly kind: 'ended'; readonly attempt: DownloadResult }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Request from the thread to check a URL. The response on the port is a `CheckedAddress`. */
export interface CheckRequest {
  readonly url: string;
  readonly port: MessagePort;
}

/**
 * Received data becomes garbage as soon as it is written, in chunks of 64 KB outside the heap. A small young generation
 * is collected so often that little garbage accumulates, and that memory still in the CPU caches is reused.
 */
const threadLimits: ResourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 128 };

/** The extension differs between the sources and the build. */
const threadFile = new URL(`./download-thread${extname(import.meta.filename)}`, import.meta.url);

/** Downloads objects in a separate thread, so that receiving, hashing and writing do not delay requests. */
export function startDownloader(settings: DownloadSettings, guard: AddressGuard) {
  const signal = transferableAbortSignal(settings.signal);
  const thread = new Worker(threadFile, {
    workerData: { ...settings, signal },
    transferList: [signal],
    resourceLimits: threadLimits,
  });
  const dead = new AbortController();
  let code = '';
  thread.once('error', (error) => {
    // A code such as ERR_WORKER_OUT_OF_MEMORY, not the message, which may quote a request.
    if (error instanceof Error && 'code' in error) code = ` (${error.code})`;
  });
  thread.once('exit', () => {
    const reason = `The thread that downloads LFS objects died${code}. Received data is kept: start the sync again.`;
    dead.abort(new LfsError(reason));
  });
  thread.on('message', async ({ url, port }: CheckRequest) => {
    port.postMessage(await guard(new URL(url), signal));
    port.close();
  });

  return {
    /**
     * Makes one attempt. Rejects with an LfsError if no object can be downloaded or stored, and on cancellation.
     * `onReceived` receives the number of bytes of the object that are present, several times a second.
     */
    async download(
      { href, headers }: Download,
      object: ObjectName,
      onReceived: (bytes: number) => void,
    ): Promise<DownloadResult> {
      dead.signal.throwIfAborted();
      const { port1: port, port2 } = new MessageChannel();
      const ended = new Promise<DownloadResult>((resolve, reject) => {
        port.on('message', (message: DownloadMessage) => {
          switch (message.kind) {
            case 'received':
              return onReceived(message.bytes);
            case 'ended':
              return resolve(message.attempt);
            case 'refused':
              return reject(new LfsError(message.reason));
            case 'failed':
              return reject(signal.aborted ? signal.reason : message.error);
          }
        });
      });
      const request: DownloadRequest = { href: href.href, headers, object, port: port2 };
      thread.postMessage(request, [port2]);
      try {
        return await unlessAborted(ended, dead.signal);
      } finally {
        port.close();
      }
    },
    async end(): Promise<void> {
      await thread.terminate();
    },
  };
}
