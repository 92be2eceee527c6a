import { grants, type Scope } from '../contract/scopes.ts';

interface FirstSteps {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly workspace: string;
  readonly scopes: readonly Scope[];
}

/** A step for a workflow that has the token in its secret WORKSPACE_TOKEN. */
export function workflowStep({ baseUrl, workspace, scopes }: FirstSteps): readonly string[] {
  const [operation = '', ...inputs] = operationFor(scopes);
  return [
    '- uses: workspace-automation/workspace-automation@main',
    '  with:',
    `    ${operation}`,
    `    base-url: ${baseUrl}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the syntax for a secret in a workflow.
    '    token: ${{ secrets.WORKSPACE_TOKEN }}',
    `    workspace: ${workspace}`,
    ...inputs.map((input) => `    ${input}`),
  ];
}

/** The most typical operation for these scopes, with its required inputs. */
function operationFor(scopes: readonly Scope[]): readonly string[] {
  if (grants(scopes, 'locks:write')) return ['operation: lock', 'path: Content/Hero.uasset'];
  if (grants(scopes, 'sync')) return ['operation: sync'];
  if (grants(scopes, 'locks:read')) return ['operation: list-locks'];
  if (grants(scopes, 'hooks:write')) return ['operation: register-hook', 'hook-url: https://ci.example.com/hook'];
  return ['operation: list-branches'];
}
