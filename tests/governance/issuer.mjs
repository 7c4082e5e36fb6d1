// A real OpenID Connect issuer for the test: tokens for programs (client credentials), as JWT, signed by a key that the
// test can change. issuer.mjs DIRECTORY PORT KEY_ID
import { createRequire } from 'node:module';
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';

const [directory, port, keyId] = process.argv.slice(2);
const require = createRequire(path.resolve(directory, 'package.json'));
const loaded = await import(require.resolve('oidc-provider'));
const Provider = loaded.Provider ?? loaded.default;

const issuer = `http://127.0.0.1:${port}`;
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const client = (id, groups) => ({
  client_id: id, client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  token_endpoint_auth_method: 'client_secret_post', groups,
});
const audienceOf = (resource) => (resource.endsWith('/other') ? 'other' : 'atoll');
const provider = new Provider(issuer, {
  jwks: { keys: [{ ...key, kid: keyId, use: 'sig', alg: 'RS256' }] },
  clients: [client('staff', ['staff']), client('root', ['root', 'staff']), client('nobody', ['none'])],
  extraClientMetadata: { properties: ['groups'] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'use', audience: audienceOf(resource), accessTokenFormat: 'jwt',
        accessTokenTTL: resource.endsWith('/brief') ? 1 : 600, jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  extraTokenClaims: (_, token) => ({ groups: token.client.groups }),
});
const server = provider.listen(Number(port), '127.0.0.1', () => console.log(`ready on ${server.address().port}`));
