import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../assets/', import.meta.url);

/** The contents of the asset files, by name. The built command replaces this module by one that contains the texts. */
export const assetFiles: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name !== 'tsconfig.json')
    .sort()
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
);
