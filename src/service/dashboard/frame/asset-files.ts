import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../assets/', import.meta.url);

/** The texts of the files by their names. The built command has a module with the texts in place of this one. */
export const assetFiles: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name !== 'tsconfig.json')
    .sort()
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
);
