import { createRepository, type Repository } from '../../test/support/git-repository.ts';

/** A commit that changes one file makes so many objects: itself, the file, and the two folders around it. */
const objectsOfCommit = 4;
const batch = 1_000;
const fileBytes = 2_000;

/** Bytes that no compression makes smaller, as those of assets are, and the same in every run. */
function createBytes(): () => Buffer {
  let state = 1;
  return () => {
    const bytes = Buffer.alloc(fileBytes);
    for (let index = 0; index < fileBytes; index += 4) {
      // Xorshift (G. Marsaglia, "Xorshift RNGs", 2003).
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      bytes.writeInt32LE(state, index);
    }
    return bytes;
  };
}

/** A repository with exactly so many objects, packed as that of a server is. */
export function generateRepository(folder: string, objects: number): Repository {
  const repository = createRepository(folder);
  const next = createBytes();
  const commits = Math.floor(objects / objectsOfCommit);
  for (let first = 0; first < commits; first += batch) {
    const numbers = Array.from({ length: Math.min(batch, commits - first) }, (_, index) => first + index);
    repository.commit(
      ...numbers.map((number) => ({ branch: 'main', files: { [`Content/asset-${number % 200}.bin`]: next() } })),
    );
  }
  repository.git('repack', '-a', '-d', '--quiet');
  return repository;
}

/** How many objects it has, as git counts them. */
export function countObjects(repository: Repository): number {
  return Number(/^in-pack: (\d+)$/m.exec(repository.git('count-objects', '-v'))?.[1]);
}
