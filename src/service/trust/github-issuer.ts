/** The OIDC issuer of github.com: the claim `iss` of its tokens. */
export const githubIssuer = 'https://token.actions.githubusercontent.com';

/**
 * GitHub in all its forms: github.com, with a path if an enterprise has its own issuer, ghe.com, and Enterprise Server.
 * Their claims are the same. https://docs.github.com/en/actions/reference/security/oidc
 */
export function isGitHub(issuer: string): boolean {
  const { host = '', pathname = '' } = URL.parse(issuer) ?? {};
  return (
    host === 'token.actions.githubusercontent.com' ||
    /^token\.actions\.[a-z0-9-]+\.ghe\.com$/.test(host) ||
    pathname === '/_services/token'
  );
}
