import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { form, loadNow, type Results, thisMachine, troubles } from '../../bench/results.ts';
import { terminalText } from '../../bench/table.ts';
import { declared } from './figures.ts';
import { judge, type Part } from './judge.ts';
import { figuresFile, readNotes } from './notes.ts';

/** The reasons why tests of the file were skipped, each once. */
function whyLeftOut(module: TestModule): string | undefined {
  const reasons = [...module.children.allTests('skipped')].flatMap((test) => {
    const result = test.result();
    return result.state === 'skipped' && result.note !== undefined ? [result.note] : [];
  });
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join(' ');
}

/** The test files that should run: a part of the soak test has only its own figures. */
function partsOf(modules: readonly TestModule[]): readonly Part[] {
  return Object.entries(declared).flatMap(([file, figures]) => {
    const module = modules.find(({ moduleId }) => moduleId.endsWith(`/${file}`));
    return module === undefined ? [] : [{ file, figures, leftOut: whyLeftOut(module) }];
  });
}

function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${Math.round(seconds)} s` : `${minutes} min ${Math.round(seconds - 60 * minutes)} s`;
}

/** Collects the figures of all tests, and prints them at the end, even if tests have failed. */
export function soakReporter(): Reporter {
  let folder = '';
  let file = '';
  const machine = thisMachine();
  const loadBefore = loadNow();
  const began = performance.now();
  return {
    onInit() {
      folder = mkdtempSync(join(tmpdir(), 'soak-'));
      file = join(folder, 'figures');
      writeFileSync(file, '');
      process.env[figuresFile] = file;
    },
    onTestRunEnd(modules, errors, reason) {
      const notes = readNotes(readFileSync(file, 'utf8'));
      const results: Results = {
        ...{ form, date: new Date().toISOString(), quick: false, machine, loadBefore, loadAfter: loadNow() },
        benchmarks: partsOf(modules).map((part) => judge(part, notes)),
      };
      rmSync(folder, { recursive: true, force: true });
      const failed = modules.flatMap(({ children }) => [...children.allTests('failed')]).length;
      const broken = modules.filter((module) => module.state() === 'failed').length;
      const lines = [
        terminalText(results),
        ...(broken + errors.length === 0
          ? []
          : [`The run failed: ${failed} tests in ${broken} files. See the errors above.`]),
        ...(reason === 'interrupted' ? ['The run was interrupted.'] : []),
        `The run took ${durationText((performance.now() - began) / 1_000)}.`,
      ];
      process.stdout.write(`${lines.join('\n')}\n`);
      if (troubles(results).length > 0) process.exitCode = 1;
    },
  };
}
