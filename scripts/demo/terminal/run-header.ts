const block = (name: string, values: Readonly<Record<string, string>>): readonly string[] => {
  const lines = Object.entries(values).map(([key, value]) => {
    const before = `  ${key}: `;
    // The runner starts further lines at the margin.
    return before + value.split('\n').join(`\n${' '.repeat(before.length)}`);
  });
  return lines.length === 0 ? [] : [`${name}:`, ...lines.join('\n').split('\n')];
};

/**
 * The group at the start of the log of a step (actions/runner, `Handler.cs`). The runner also lists inputs with default
 * values. They are omitted here, as are variables that were already shown.
 */
export const runHeader = (
  inputs: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): readonly string[] => [
  '##[group]Run workspace-automation/workspace-automation@main',
  ...block('with', inputs),
  ...block('env', environment),
  '##[endgroup]',
];
