const block = (name: string, values: Readonly<Record<string, string>>): readonly string[] => {
  const lines = Object.entries(values).map(([key, value]) => {
    const before = `  ${key}: `;
    // The runner lets further lines begin at the margin.
    return before + value.split('\n').join(`\n${' '.repeat(before.length)}`);
  });
  return lines.length === 0 ? [] : [`${name}:`, ...lines.join('\n').split('\n')];
};

/**
 * The group with which the runner begins the log of a step (actions/runner, `Handler.cs`). The runner also lists the
 * inputs that have their default; they are left out here, as are the variables that have been shown already.
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
