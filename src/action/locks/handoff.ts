import { readFileSync } from 'node:fs';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { HandoffSelection } from '../inputs/load.ts';
import { type HandoffLock, parseHandoff } from '../inputs/parse.ts';
import { InputError } from '../outcome.ts';

function readText(file: string): Parsed<string> {
  try {
    return accepted(readFileSync(file, 'utf8'));
  } catch (error) {
    return refused(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** The locks that a lock step, also of another job, gave out. */
export function loadHandoff(selection: HandoffSelection): readonly HandoffLock[] {
  switch (selection.kind) {
    case 'locks':
      return selection.locks;
    case 'locks-file': {
      const { file } = selection;
      const text = readText(file);
      const locks = text.ok ? parseHandoff(text.value) : text;
      if (!locks.ok) throw new InputError([`Input \`locks-file\` is ${JSON.stringify(file)}. ${locks.why}`]);
      return locks.value;
    }
  }
}
