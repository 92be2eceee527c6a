import { scopes } from '../../../interface/scopes.ts';
import { curlLine, shellVariables, workflowStep } from '../../first-steps.ts';
import type { DevSetup } from './dev.ts';

/** The one place that shows the link. */
export const invitation = (link: string): string[] => [
  '',
  'This link signs you in to the dashboard as administrator. It works once, and for an hour:',
  '',
  `  ${link}`,
];

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** What there is to try in development. The token is shown here alone. */
export function welcome(baseUrl: string, { token, workspace }: DevSetup): string[] {
  const steps = { baseUrl, workspace, scopes };
  return [
    '',
    'This is a service to try things with, not one for production: it mirrors repositories of this machine, delivers',
    'webhooks to it, and shows a token that may do everything for 7 days. Each start makes another.',
    '',
    ...indented(shellVariables(steps, token)),
    '',
    'Try it:',
    '',
    ...indented([curlLine]),
    '',
    'A step for a workflow whose runner is on this machine, with the token in the secret WORKSPACE_TOKEN:',
    '',
    ...indented(workflowStep(steps)),
  ];
}
