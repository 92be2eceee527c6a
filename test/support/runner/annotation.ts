import { isAbsolute, relative, sep } from 'node:path';
import type { Masks } from './masks.ts';
import type { WorkflowCommand } from './workflow-command.ts';

export interface Annotation {
  readonly level: 'error' | 'notice' | 'warning';
  readonly message: string;
  readonly title?: string;
  /** Relative to the workspace where it lies inside. */
  readonly file?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly column?: number;
  readonly endColumn?: number;
  /** The runner has something to say too, such as that a file command could not be read. */
  readonly by: 'action' | 'runner';
}

/** actions/runner, `ExecutionContext.cs`: a longer message is cut. */
const longestMessage = 4096;

function fileInWorkspace(file: string, workspace: string): string {
  const inside = relative(workspace, file);
  const isInside = isAbsolute(file) && inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return isInside ? inside.replaceAll(sep, '/') : file;
}

/**
 * The annotation that a command makes. The runner masks the message and nothing else (`ExecutionContext.cs`): a secret
 * in a title or in the name of a file stays readable.
 */
export function annotationOf(
  level: Annotation['level'],
  { properties, data }: WorkflowCommand,
  { masks, workspace }: { readonly masks: Masks; readonly workspace: string },
): Annotation {
  const number = (name: string): number | undefined => {
    const text = properties.get(name);
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const title = properties.get('title');
  const file = properties.get('file');
  const line = number('line');
  const endLine = number('endline');
  const column = number('col');
  const endColumn = number('endcolumn');
  return {
    level,
    message: masks.apply(data).slice(0, longestMessage),
    ...(title !== undefined && { title }),
    ...(file !== undefined && { file: fileInWorkspace(file, workspace) }),
    ...(line !== undefined && { line }),
    ...(endLine !== undefined && { endLine }),
    ...(column !== undefined && { column }),
    ...(endColumn !== undefined && { endColumn }),
    by: 'action',
  };
}
