import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { truthy } from '@actions/expressions/result';

export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };

/** A YAML value where a workflow expects a single one. */
export type Scalar = null | boolean | number | string;

export type Status = 'cancelled' | 'failure' | 'success';

/** The contexts that expressions at one place of a workflow can use. */
export interface Scope {
  readonly contexts: Readonly<Record<string, Value>>;
  /** The status, where `success()` and similar functions are available. */
  readonly status?: Status;
}

/** Within an expression, a doubled quote stands for a single one. */
const placeholder = /\$\{\{((?:[^'}]|'[^']*'|\}(?!\}))*)\}\}/g;
const onlyPlaceholder = new RegExp(`^\\s*${placeholder.source}\\s*$`);

/** Uses GitHub's own evaluator, from the language service. It also compares names in `env` without case. */
function evaluate(expression: string, { contexts, status }: Scope): data.ExpressionData {
  const functions = (status === undefined ? [] : ['always', 'cancelled', 'failure', 'success']).map((name) => ({
    ...{ name, minArgs: 0, maxArgs: 0 },
    call: () => new data.BooleanData(name === 'always' || name === status),
  }));
  const dictionary = new data.Dictionary(
    ...Object.entries(contexts).map(([key, value]) => ({
      key,
      value: JSON.parse(JSON.stringify(value), data.reviver),
    })),
  );
  try {
    const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), functions).parse();
    return new Evaluator(tree, dictionary, new Map(functions.map((each) => [each.name, each]))).evaluate();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The expression \${{${expression}}} cannot be evaluated here: ${reason}`, { cause: error });
  }
}

/** The text with its expressions replaced by their values. These are not evaluated again. */
export function textOf(value: Scalar | undefined, scope: Scope): string {
  return String(value ?? '').replaceAll(placeholder, (_, expression: string) =>
    evaluate(expression, scope).coerceString(),
  );
}

/** The value of a key such as `continue-on-error`, which is true, false or an expression. */
export function isTrue(value: Scalar | undefined, scope: Scope): boolean {
  const [, expression] = onlyPlaceholder.exec(String(value ?? '')) ?? [];
  return expression === undefined ? value === true : truthy(evaluate(expression, scope));
}

/** Whether `if:` lets a step or a job run. Without a status function, `success()` is also required. */
export function conditionHolds(condition: Scalar | undefined, scope: Scope): boolean {
  const text = String(condition ?? '');
  const expression = onlyPlaceholder.exec(text)?.[1] ?? text;
  const asksForStatus = /\b(always|cancelled|failure|success)\(/.test(expression);
  if (!asksForStatus && scope.status !== 'success') return false;
  return expression.trim() === '' || truthy(evaluate(expression, scope));
}

/** The values with their expressions replaced. */
export const filled = (
  values: Readonly<Record<string, Scalar>> | undefined,
  scope: Scope,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, textOf(value, scope)]));
