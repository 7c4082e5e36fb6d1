// A server that answers what E2B's SDK asks for `create` and one command, at once and always the same: what is left is
// the SDK's own time. Prints its address.
import http from 'node:http'

const envelope = (message, flag = 0) => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}
const made = Buffer.from(JSON.stringify({
  sandboxID: 'i00000000000000000000', templateID: 'base', clientID: 'baseline', envdVersion: '0.6.13', envdAccessToken: 'token' }))
const said = Buffer.concat([
  envelope({ event: { start: { pid: 1 } } }),
  envelope({ event: { data: { stdout: Buffer.from('ready\n').toString('base64') } } }),
  envelope({ event: { end: { exited: true, status: 'exit status 0' } } }),
  envelope({}, 2)])

function answer(request, response) {
  if (request.url === '/v2/sandboxes') {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': made.length }).end(made)
  } else if (request.url.startsWith('/process.Process/')) {
    response.writeHead(200, { 'content-type': 'application/connect+json' }).end(said)
  } else {
    response.writeHead(204).end()
  }
}
const server = http.createServer((request, response) => request.resume().on('end', () => answer(request, response)))
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
