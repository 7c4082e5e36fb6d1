// The conformance suite shows no key: this adds one to what passes through it, and changes nothing else.
import http from 'node:http'

const [target, key] = process.argv.slice(2)
const url = new URL(target)
const server = http.createServer((request, response) => {
  const headers = { ...request.headers, 'x-api-key': key }
  const onward = http.request({ host: url.hostname, port: url.port, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers)
    response.flushHeaders()
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  // A client that leaves is to be seen leaving.
  response.on('close', () => onward.destroy())
  request.pipe(onward)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`))
