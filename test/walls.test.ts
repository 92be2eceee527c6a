import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** For each folder, those that it imports, types included; for each of these, the files that do. */
function importsBetweenFolders(): Map<string, Map<string, string>> {
  const folders = new Map<string, Map<string, string>>();
  for (const file of globSync('src/**/*.{ts,js}', { cwd: root }).map((name) => name.replaceAll('\\', '/'))) {
    const source = readFileSync(join(root, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/(?:^(?:import|export)\b[^;']*|\bimport\()'(\.[^']+)'/gm)) {
      const imported = posix.join(dirname(file), name);
      const [from, to] = [dirname(file), dirname(imported)];
      if (from === to) continue;
      const targets = folders.get(from) ?? new Map<string, string>();
      folders.set(from, targets.set(to, `${file} imports ${imported}`));
    }
  }
  return folders;
}

/** The imports of a way from a folder back to itself. */
function circleFrom(folders: ReadonlyMap<string, ReadonlyMap<string, string>>, start: string): string[] | undefined {
  const seen = new Set<string>();
  function wayFrom(folder: string): string[] | undefined {
    for (const [to, reason] of folders.get(folder) ?? []) {
      if (to === start) return [reason];
      if (seen.has(to)) continue;
      seen.add(to);
      const rest = wayFrom(to);
      if (rest !== undefined) return [reason, ...rest];
    }
    return undefined;
  }
  return wayFrom(start);
}

test('no folder of src/ imports one that imports it, on whatever way, types included', () => {
  const folders = importsBetweenFolders();
  expect(folders.size).toBeGreaterThan(10);
  const circles = [...folders.keys()].map((folder) => circleFrom(folders, folder));
  expect(circles.find((circle) => circle !== undefined)).toBeUndefined();
});

test('only the action, the command over HTTP and src/locks itself import src/locks', () => {
  const importers = [...importsBetweenFolders()].filter(([, targets]) =>
    [...targets.keys()].some((folder) => /^src\/locks(\/|$)/.test(folder)),
  );
  const strangers = importers
    .map(([from]) => from)
    .filter((from) => !/^src\/(action|locks|service\/cli\/remote)(\/|$)/.test(from));
  expect(importers.length).toBeGreaterThan(5);
  expect(strangers).toEqual([]);
});

test('no file of src/ tells the check to look away from a wall', () => {
  for (const name of globSync('src/**/*.{ts,js}', { cwd: root })) {
    const silenced = readFileSync(join(root, name), 'utf8').matchAll(/biome-ignore\S*\s+([^\s:]+)/g);
    for (const [, rule] of silenced) {
      expect(rule, name).not.toMatch(/noRestrictedImports|noCommonJs|noImportCycles|plugin|^lint(\/style)?$/);
    }
  }
});
