import { randomBytes } from 'node:crypto';
import { createRepository } from '../../test/support/git-repository.ts';
import { DemoFailure } from './ending.ts';

export const hero = 'Content/Hero.uasset';
export const arena = 'Content/Maps/Arena.umap';

const tileCount = 2_400;
const tileBytes = 1_200;
const assetBytes = 4_096;

/** Files with incompressible bytes, like those of assets. */
const assets = (paths: readonly string[], bytes: number): Record<string, Buffer> =>
  Object.fromEntries(paths.map((path) => [path, randomBytes(bytes)]));

const tile = (_: unknown, index: number): string => `Content/Terrain/Tile_${String(index + 1).padStart(4, '0')}.uasset`;

/** Creates a git repository of assets in the folder, and returns its path. */
export function createSampleAssets(folder: string): string {
  try {
    const repository = createRepository(folder, 'game-assets.git');
    repository.commit(
      { branch: 'main', files: assets([hero, arena, 'Content/Audio/Arena.wav'], assetBytes) },
      { branch: 'main', files: assets(Array.from({ length: tileCount }, tile), tileBytes) },
    );
    return repository.path;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw 'code' in error && error.code === 'ENOENT'
      ? new DemoFailure('git was not found on the PATH. Install git and start the demo again.')
      : new DemoFailure(`git could not create the repository of sample assets: ${error.message}`);
  }
}
