/** A transfer slower than this for this long is ended, so that a remote cannot occupy a sync slot forever. */
export interface MinTransferSpeed {
  readonly bytesPerSecond: number;
  readonly forMs: number;
}

export const minTransferSpeed: MinTransferSpeed = { bytesPerSecond: 1_024, forMs: 60_000 };
const samplesPerPeriod = 6;

export interface TransferSpeed {
  /** Aborted when the transfer has been too slow for too long. */
  readonly tooSlow: AbortSignal;
  onErrorLine(line: string): void;
  /** Stops watching when git has received everything or has ended. */
  end(): void;
}

/** Watches the speed of a transfer. `receivedBytes` returns the number of bytes received so far. */
export function watchTransferSpeed(
  receivedBytes: () => Promise<number>,
  { bytesPerSecond, forMs }: MinTransferSpeed,
): TransferSpeed {
  const tooSlow = new AbortController();
  const advances = createRemoteProgress();
  const minBytes = (bytesPerSecond * forMs) / 1_000;
  /** Bytes credited for messages. A message that shows progress counts as much as a transfer at the minimum speed. */
  let progress = 0;
  const samples = [0];

  async function look(): Promise<void> {
    samples.push(progress + (await receivedBytes()));
    if (samples.length <= samplesPerPeriod) return;
    const [before = 0] = samples.splice(0, samples.length - samplesPerPeriod);
    if ((samples.at(-1) ?? 0) - before < minBytes) tooSlow.abort();
  }

  const timer = setInterval(() => void look(), forMs / samplesPerPeriod);
  return {
    tooSlow: tooSlow.signal,
    onErrorLine(line) {
      progress += advances(line) ? minBytes : Buffer.byteLength(line);
    },
    end: () => clearInterval(timer),
  };
}

/** Smaller growth of a count is not progress: otherwise a remote could continue forever. */
const minGrowth = 1.1;

/**
 * Detects progress in the messages of a remote that has not sent data yet. Percentages end at 100 and counts must grow
 * by a tenth, so no remote can continue forever.
 */
function createRemoteProgress(): (line: string) => boolean {
  const furthest = new Map<string, number>();
  return (line) => {
    const [, phase = '', percent, count] = /^remote: ([A-Za-z ]{1,30}): +(?:(\d{1,3})%|(\d{1,12}))/.exec(line) ?? [];
    if (phase === '') return false;
    const isPercent = percent !== undefined;
    const key = `${phase} ${isPercent}`;
    const now = Math.min(Number(percent ?? count), isPercent ? 100 : Number.MAX_SAFE_INTEGER);
    const before = furthest.get(key) ?? 0;
    // Otherwise a remote could continue forever by inventing phases.
    if (!furthest.has(key) && furthest.size >= 8) return false;
    if (isPercent ? now <= before : now < Math.max(1, before * minGrowth)) return false;
    furthest.set(key, now);
    return true;
  };
}
