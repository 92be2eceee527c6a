/** The response of a gateway instead of the service behind it, as shown in its source. */
export interface RecordedResponse {
  readonly gateway: string;
  /** The condition for this response. */
  readonly when: string;
  /** A page of documentation, or a repository with a file or an issue. */
  readonly source: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const awsPage = (title: string): string =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`;

export const recordedResponses: readonly RecordedResponse[] = [
  {
    gateway: 'Envoy',
    when: 'its RBAC filter denies the request',
    source: 'envoyproxy/envoy, sandboxes/rbac.rst in its docs',
    status: 403,
    headers: { 'content-type': 'text/plain', server: 'envoy' },
    body: 'RBAC: access denied',
  },
  {
    gateway: 'Istio',
    when: 'its ingress gateway has no route',
    source: 'https://github.com/istio/istio/issues/26562',
    status: 404,
    headers: { server: 'istio-envoy', 'content-length': '0' },
    body: '',
  },
  {
    gateway: 'Traefik',
    when: 'no router matches',
    source: 'https://doc.traefik.io/traefik/getting-started/faq/ and golang/go, src/net/http/server.go (NotFound)',
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: '404 page not found\n',
  },
  {
    gateway: 'Kong 2',
    when: 'no route matches',
    source: 'https://github.com/Kong/kong/issues/4294',
    status: 404,
    headers: { 'content-type': 'application/json; charset=utf-8', server: 'kong/2.8.1' },
    body: '{"message":"no Route matched with those values"}',
  },
  {
    gateway: 'Kong 3',
    when: 'no route matches, and the body has a request id',
    source: 'Kong/kong, kong/tools/http.lua (get_error_template)',
    status: 404,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      server: 'kong/3.10.0.1-enterprise-edition',
      'x-kong-request-id': '108134052a77553f758cf668b90e4c1d',
      'x-kong-response-latency': '0',
    },
    body: '{\n  "message":"no Route matched with those values",\n  "request_id":"108134052a77553f758cf668b90e4c1d"\n}',
  },
  {
    gateway: 'AWS ALB',
    when: 'no rule matches, and the default action is a fixed response',
    source: 'https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/1854',
    status: 404,
    headers: { server: 'awselb/2.0', 'content-type': 'text/plain; charset=utf-8', 'content-length': '0' },
    body: '',
  },
  {
    gateway: 'AWS ALB',
    when: 'AWS WAF blocks the request',
    source: 'https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-troubleshooting.html',
    status: 403,
    headers: { server: 'awselb/2.0', 'content-type': 'text/html' },
    body: awsPage('403 Forbidden'),
  },
  {
    gateway: 'AWS WAF',
    when: 'it challenges the client',
    source: 'https://docs.aws.amazon.com/waf/latest/APIReference/API_ChallengeAction.html',
    status: 202,
    headers: { server: 'awselb/2.0', 'x-amzn-waf-action': 'challenge', 'content-length': '0' },
    body: '',
  },
  {
    gateway: 'AWS API Gateway',
    when: 'the stage has no such resource',
    source: 'https://github.com/aws/chalice/issues/12',
    status: 403,
    headers: {
      'content-type': 'application/json',
      'x-amzn-errortype': 'MissingAuthenticationTokenException',
      'x-amzn-requestid': '91fd08e2-3c78-11e6-8a68-23416dcaf8cc',
    },
    body: '{"message":"Missing Authentication Token"}',
  },
  {
    gateway: 'AWS API Gateway',
    when: 'an authorizer denies the request',
    source: 'https://github.com/aws/chalice/issues/971',
    status: 403,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'AccessDeniedException' },
    body: '{"Message":"User is not authorized to access this resource"}',
  },
  {
    gateway: 'AWS API Gateway',
    when: 'an authorizer rejects the token',
    source: 'https://github.com/auth0-samples/jwt-rsa-aws-custom-authorizer/pull/6',
    status: 401,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'UnauthorizedException' },
    body: '{"message":"Unauthorized"}',
  },
  {
    gateway: 'Cloudflare',
    when: 'a firewall rule blocks the request',
    source: 'https://reachlin.github.io/2026/04/30/cloudflare-waf-block-investigation.html',
    status: 403,
    headers: { server: 'cloudflare', 'cf-ray': 'a1b2c3d4e5f60000-NRT', 'content-type': 'text/plain; charset=UTF-8' },
    body: 'error code: 1020',
  },
  {
    gateway: 'Akamai',
    when: 'a rule denies the request',
    source: 'https://github.com/Ekultek/WhatWaf/issues/1324',
    status: 403,
    headers: { server: 'AkamaiGHost', 'mime-version': '1.0', 'content-type': 'text/html' },
    body: '<html><head>\n<title>Access Denied</title>\n</head><body>\n<h1>Access Denied</h1>\n \nYou don\'t have permission to access "http://workspaces.example.com/v1" on this server.<p>\nReference #18.87633e17.1633280750.cf110536\n</p></body>\n</html>\n',
  },
  {
    gateway: 'ingress-nginx',
    when: 'its default backend gets the request',
    source: 'https://github.com/kubernetes/ingress-nginx/issues/3888',
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: 'default backend - 404',
  },
  {
    gateway: 'Azure API Management',
    when: 'no operation matches',
    source:
      'https://techcommunity.microsoft.com/t5/azure-paas-blog/azure-api-management-limitation-workaround-return-404-instead-of/ba-p/1588413',
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: '{ "statusCode": 404, "message": "Resource not found" }',
  },
  {
    gateway: 'Azure API Management',
    when: 'the subscription key is missing',
    source: 'https://learn.microsoft.com/troubleshoot/azure/api-mgmt/availability/unauthorized-errors-invoke-apis',
    status: 401,
    headers: { 'content-type': 'application/json' },
    body: '{ "statusCode": 401, "message": "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API." }',
  },
];
