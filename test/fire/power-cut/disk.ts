import { dirname } from 'node:path';
import type { Random } from '../../support/seed.ts';
import type { Step } from './record.ts';

/** The fate of changes that were not durable at a power cut: none, all, or any parts of them survive. */
export type Luck = 'none' | 'all' | 'some';

/** Files by name, in their state after the power cut. */
export type Image = ReadonlyMap<string, Buffer>;

export interface Disk {
  apply(step: Step): void;
  cutPower(luck: Luck, random: Random): Image;
}

/** The smallest unit that a disk writes atomically. */
const sector = 512;

interface Write {
  readonly offset: number;
  readonly bytes: Buffer;
}
type Change = Write | { readonly size: number };

/** The durable content of a file, and the changes since then, in order. */
interface File {
  durable: Buffer;
  readonly changes: Change[];
}

interface NameChange {
  readonly name: string;
  readonly node: Node | undefined;
}

/** The durable names in a folder, and the changes since then, in order. */
interface Folder {
  readonly durable: Map<string, Node>;
  readonly changes: NameChange[];
}

type Node = { readonly is: 'file'; readonly file: File } | { readonly is: 'folder'; readonly folder: Folder };

const emptyFile = (): Node => ({ is: 'file', file: { durable: Buffer.alloc(0), changes: [] } });
const emptyFolder = (): Node & { is: 'folder' } => ({ is: 'folder', folder: { durable: new Map(), changes: [] } });

function resized(content: Buffer, size: number): Buffer {
  return size <= content.length
    ? content.subarray(0, size)
    : Buffer.concat([content, Buffer.alloc(size - content.length)]);
}

/** Applies a change, in place if the content is long enough. */
function changed(content: Buffer, change: Change): Buffer {
  if ('size' in change) return resized(content, change.size);
  const { offset, bytes } = change;
  const result = resized(content, Math.max(content.length, offset + bytes.length));
  bytes.copy(result, offset);
  return result;
}

/** The parts of a write in different sectors. */
function* sectors({ offset, bytes }: Write): Generator<Write> {
  for (let at = 0; at < bytes.length; ) {
    const size = Math.min(sector - ((offset + at) % sector), bytes.length - at);
    yield { offset: offset + at, bytes: bytes.subarray(at, at + size) };
    at += size;
  }
}

function* survivors(changes: readonly Change[], luck: Luck, random: Random): Generator<Change> {
  if (luck === 'none') return;
  for (const change of changes) {
    const share = luck === 'all' ? 1 : [0, 0.5, 1][Math.floor(random() * 3)];
    if (share === 1) yield change;
    if (share !== 0.5 || 'size' in change) continue;
    for (const piece of sectors(change)) if (random() < share) yield piece;
  }
}

/** Starts a sync of all changes so far. They are durable once the returned function ends it. */
function beginSync(node: Node): () => void {
  if (node.is === 'folder') {
    const { durable, changes } = node.folder;
    const last = changes.at(-1);
    return () => {
      for (const { name, node: entry } of last === undefined ? [] : changes.splice(0, changes.indexOf(last) + 1)) {
        if (entry === undefined) durable.delete(name);
        else durable.set(name, entry);
      }
    };
  }
  const { file } = node;
  const last = file.changes.at(-1);
  return () => {
    const done = last === undefined ? [] : file.changes.splice(0, file.changes.indexOf(last) + 1);
    file.durable = done.reduce(changed, file.durable);
  };
}

/**
 * A disk with only the guarantees of POSIX. A write is durable after an fsync of its file that started later has
 * ended; a name is durable after such an fsync of its folder. Other changes may survive a power cut in any order and in
 * pieces, separately for each name and each sector. Only files that `isWatched` accepts are tracked; the root is
 * durable.
 */
export function createDisk(root: string, isWatched: (name: string) => boolean): Disk {
  const visible = new Map<string, Node>();
  const rootFolder = emptyFolder();
  visible.set(root, rootFolder);
  /** The functions that end the running syncs. */
  const syncing = new Map<string, () => void>();

  function setName(name: string, node: Node | undefined): void {
    const parent = visible.get(dirname(name));
    if (parent?.is !== 'folder') return;
    parent.folder.changes.push({ name, node });
    if (node === undefined) visible.delete(name);
    else visible.set(name, node);
  }

  const fileNamed = (name: string): File => {
    const node = visible.get(name);
    if (node?.is !== 'file') throw new Error(`${name} is written, and it was never made.`);
    return node.file;
  };

  function apply(step: Step): void {
    if (step.does === 'say' || (step.file !== root && !isWatched(step.file))) return;
    const { file } = step;
    switch (step.does) {
      case 'write':
        fileNamed(file).changes.push({ offset: step.offset, bytes: step.bytes });
        return;
      case 'truncate':
        fileNamed(file).changes.push({ size: step.size });
        return;
      case 'open-new':
        if (!visible.has(file)) setName(file, emptyFile());
        return;
      case 'make-folder':
        setName(file, emptyFolder());
        return;
      case 'unlink':
        setName(file, undefined);
        return;
      case 'begin-sync': {
        const node = visible.get(file);
        if (node !== undefined) syncing.set(`${step.by} ${file}`, beginSync(node));
        return;
      }
      case 'end-sync':
        syncing.get(`${step.by} ${file}`)?.();
        return;
      case 'something-else':
        throw new Error(`${file} is changed in a way that this disk does not know: ${step.call}`);
    }
  }

  function namesAfter({ durable, changes }: Folder, luck: Luck, random: Random): Map<string, Node> {
    const names = new Map(durable);
    // A name has any of the states since the folder was last durable.
    for (const [name, states] of Map.groupBy(changes, (change) => change.name)) {
      const last =
        luck === 'none' ? -1 : luck === 'all' ? states.length - 1 : Math.floor(random() * (states.length + 1)) - 1;
      if (last < 0) continue;
      const node = states[last]?.node;
      if (node === undefined) names.delete(name);
      else names.set(name, node);
    }
    return names;
  }

  return {
    apply,
    cutPower(luck, random) {
      const image = new Map<string, Buffer>();
      const look = (folder: Folder): void => {
        for (const [name, node] of namesAfter(folder, luck, random)) {
          if (node.is === 'folder') {
            look(node.folder);
            continue;
          }
          let content: Buffer = Buffer.from(node.file.durable);
          for (const change of survivors(node.file.changes, luck, random)) content = changed(content, change);
          image.set(name, content);
        }
      };
      look(rootFolder.folder);
      return image;
    },
  };
}
