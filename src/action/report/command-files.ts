import { appendFileSync } from 'node:fs';

/** Outside of a workflow there is no such file, and nobody who reads it. */
function append(variable: 'GITHUB_OUTPUT' | 'GITHUB_STATE' | 'GITHUB_STEP_SUMMARY', text: string): void {
  const file = process.env[variable];
  if (file) appendFileSync(file, text);
}

/** The runner reads on to the line that ends the value, whatever stands in between: no such line may be part of it. */
function endOf(value: string): string {
  let number = 1;
  while (value.includes(`end-${number}`)) number += 1;
  return `end-${number}`;
}

function entry(name: string, value: string): string {
  const end = endOf(value);
  return `${name}<<${end}\n${value}\n${end}\n`;
}

export const setOutput = (name: string, value: string): void => append('GITHUB_OUTPUT', entry(name, value));

/** For the post-step of the same step. */
export const saveState = (name: string, value: string): void => append('GITHUB_STATE', entry(name, value));

/** What the main of this step has saved; empty when it has not. */
export const getState = (name: string): string => process.env[`STATE_${name}`] ?? '';

export const addSummary = (markdown: string): void => append('GITHUB_STEP_SUMMARY', markdown);
