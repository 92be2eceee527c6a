import { hero } from './sample-assets.ts';
import { workspace } from './service.ts';

/** Instructions for using the service with --keep. Only this text shows a token, for copying. */
export const tryIt = (baseUrl: string, token: string): string => `
  In a shell:

    export WORKSPACE_BASE_URL=${baseUrl}
    export WORKSPACE_TOKEN=${token}
    export WORKSPACE_ID=${workspace}

    curl -H "Authorization: Bearer $WORKSPACE_TOKEN" \\
      "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks"

    curl -H "Authorization: Bearer $WORKSPACE_TOKEN" \\
      -H "Content-Type: application/json" \\
      -d '{"path": "${hero}", "type": "exclusive", "ttl": "10m"}' \\
      "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks"

  The webhook reports released locks: its calls are shown here as they arrive.

  In a workflow whose runner is on this machine, with the token in the secret
  WORKSPACE_TOKEN:

    - uses: workspace-automation/workspace-automation@main
      with:
        operation: lock
        base-url: ${baseUrl}
        token: \${{ secrets.WORKSPACE_TOKEN }}
        workspace: ${workspace}
        path: ${hero}
`;
