import { appendFileSync } from 'node:fs';

const { GITHUB_STATE, STATE_started, WORKSPACE_BASE_URL, WORKSPACE_ID, WORKSPACE_TOKEN } = process.env;

if (STATE_started === undefined) {
  appendFileSync(GITHUB_STATE, 'started=true\n');
} else {
  const response = await fetch(`${WORKSPACE_BASE_URL}/workspaces/${WORKSPACE_ID}/locks`, {
    headers: { authorization: `Bearer ${WORKSPACE_TOKEN}` },
  });
  const { locks } = await response.json();
  for (const { path } of locks)
    process.stdout.write(`::error::The lock on ${path} was not released when the job ended.\n`);
  if (locks.length > 0) process.exitCode = 1;
}
