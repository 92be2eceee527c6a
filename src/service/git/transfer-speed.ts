/** A transfer that stays slower than this for this long is ended: a remote must not hold a place for as long as it likes. */
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
  /** After this, git works locally or is done. */
  end(): void;
}

/** Watches a transfer, given how many bytes of it there are so far. */
export function watchTransferSpeed(
  receivedBytes: () => Promise<number>,
  { bytesPerSecond, forMs }: MinTransferSpeed,
): TransferSpeed {
  const tooSlow = new AbortController();
  const advances = createRemoteProgress();
  const minBytes = (bytesPerSecond * forMs) / 1_000;
  /** Progress of the remote counts as much as a transfer that is just quick enough. */
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

/** A count that only creeps is not progress: it could creep for ever. */
const minGrowth = 1.1;

/**
 * Whether the remote makes progress before it sends anything, by its own messages. Percentages end at a hundred, and counts
 * must grow by a tenth, so no remote can continue forever.
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
    // A remote that made up phases without end would be at work for ever.
    if (!furthest.has(key) && furthest.size >= 8) return false;
    if (isPercent ? now <= before : now < Math.max(1, before * minGrowth)) return false;
    furthest.set(key, now);
    return true;
  };
}
