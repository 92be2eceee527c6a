import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of `npm run check` that looks at several files at once: what may import what in src/, and how much. */
const complaints = [...circles(), ...strangersToLocks(), ...silencedRules(), ...tooManyNames()];
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;

interface Import {
  readonly file: string;
  readonly imported: string;
}

function sources(): readonly { readonly file: string; readonly text: string }[] {
  const root = fileURLToPath(new URL('..', import.meta.url));
  return globSync('src/**/*.{ts,js}', { cwd: root }).map((name) => ({
    file: name.replaceAll('\\', '/'),
    text: readFileSync(join(root, name), 'utf8'),
  }));
}

/** Imports of our own files, types included. */
function imports(): readonly Import[] {
  return sources().flatMap(({ file, text }) =>
    [...text.matchAll(/(?:^(?:import|export)\b[^;']*|\bimport\()'(\.[^']+)'/gm)].map(([, name = '']) => ({
      file,
      imported: posix.join(dirname(file), name),
    })),
  );
}

/** Folders that import each other, directly or through others. */
function circles(): readonly string[] {
  const folders = new Map<string, Map<string, string>>();
  for (const { file, imported } of imports()) {
    const [from, to] = [dirname(file), dirname(imported)];
    if (from === to) continue;
    const targets = folders.get(from) ?? new Map<string, string>();
    folders.set(from, targets.set(to, `${file} imports ${imported}`));
  }
  function wayBack(start: string, folder: string, seen: Set<string>): readonly string[] | undefined {
    for (const [to, reason] of folders.get(folder) ?? []) {
      if (to === start) return [reason];
      if (seen.has(to)) continue;
      const rest = wayBack(start, to, seen.add(to));
      if (rest !== undefined) return [reason, ...rest];
    }
    return undefined;
  }
  for (const folder of folders.keys()) {
    const way = wayBack(folder, folder, new Set());
    if (way !== undefined) return [`Folders import each other: ${way.join(', ')}.`];
  }
  return [];
}

function strangersToLocks(): readonly string[] {
  return imports()
    .filter(({ imported }) => imported.startsWith('src/locks/'))
    .filter(({ file }) => !/^src\/(action|locks|cli)\//.test(file))
    .map(({ file }) => `${file} imports src/locks, which only the action and the lock commands do.`);
}

function silencedRules(): readonly string[] {
  return sources().flatMap(({ file, text }) =>
    [...text.matchAll(/biome-ignore\S*\s+([^\s:]+)/g)]
      .filter(([, rule = '']) => /noRestrictedImports|noCommonJs|noImportCycles|plugin|^lint(\/style)?$/.test(rule))
      .map(([, rule]) => `${file} must not silence ${rule}.`),
  );
}

/** A file that imports many names is one that nobody can read alone. */
function tooManyNames(): readonly string[] {
  const counts = sources()
    .map(({ text }) =>
      [...text.matchAll(/^import\s+(?:type\s+)?([^;']*?)\s+from\s+'/gm)]
        .flatMap(([, names = '']) => names.replaceAll(/[{}]/g, ',').split(','))
        .filter((name) => name.trim() !== ''),
    )
    .map(({ length }) => length)
    .toSorted((one, other) => one - other);
  const limits = [
    { part: 0.5, limit: 10, name: 'half' },
    { part: 0.9, limit: 25, name: '90 %' },
  ];
  return limits.flatMap(({ part, limit, name }) => {
    const count = counts[Math.floor(counts.length * part)] ?? 0;
    return count <= limit ? [] : [`More than ${name} of the files of src/ may import ${limit} names, not ${count}.`];
  });
}
