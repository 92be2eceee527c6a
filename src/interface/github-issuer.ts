/** The OIDC issuer of github.com, as the claim `iss` of its tokens names it. */
export const githubIssuer = 'https://token.actions.githubusercontent.com';

/**
 * GitHub in all its forms: with a path for an enterprise of its own, on ghe.com, and Enterprise Server. They share their
 * claims. https://docs.github.com/en/actions/reference/security/oidc
 */
export function isGitHub(issuer: string): boolean {
  const { host = '', pathname = '' } = URL.parse(issuer) ?? {};
  return (
    host === 'token.actions.githubusercontent.com' ||
    /^token\.actions\.[a-z0-9-]+\.ghe\.com$/.test(host) ||
    pathname === '/_services/token'
  );
}
