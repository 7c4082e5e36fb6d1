// A SOCKS5 proxy (RFC 1928, RFC 1929) that notes what it is asked for.
import net from 'node:net'

export function socks({ username, password } = {}) {
  const asked = []
  const open = new Set()
  const server = net.createServer((client) => {
    open.add(client.on('close', () => open.delete(client)).on('error', () => {}))
    const steps = [
      (bytes) => {
        if (bytes.length < 2 || bytes.length < 2 + bytes[1]) return 0
        const wants = username ? 2 : 0
        const has = bytes.subarray(2, 2 + bytes[1]).includes(wants)
        client.write(Buffer.from([5, has ? wants : 255]))
        if (!has) client.end()
        return 2 + bytes[1]
      },
      ...(username ? [(bytes) => {
        if (bytes.length < 2 || bytes.length < 3 + bytes[1]) return 0
        const end = 3 + bytes[1] + bytes[2 + bytes[1]]
        if (bytes.length < end) return 0
        const given = [bytes.toString('utf8', 2, 2 + bytes[1]), bytes.toString('utf8', 3 + bytes[1], end)]
        const good = given[0] === username && given[1] === (password ?? '')
        client.write(Buffer.from([1, good ? 0 : 1]))
        if (!good) client.end()
        return end
      }] : []),
      (bytes) => {
        if (bytes.length < 10) return 0
        const host = [...bytes.subarray(4, 8)].join('.')
        const port = bytes.readUInt16BE(8)
        asked.push({ type: bytes[3], to: `${host}:${port}` })
        client.removeAllListeners('data')
        const far = net.connect(port, host, () => {
          client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
          far.write(bytes.subarray(10))
          client.pipe(far).pipe(client)
        })
        far.on('error', () => client.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])))
        open.add(far.on('close', () => open.delete(far)))
        return bytes.length
      },
    ]
    let held = Buffer.alloc(0)
    client.on('data', (piece) => {
      held = Buffer.concat([held, piece])
      for (let used = 1; used > 0 && steps.length > 0;) {
        used = steps[0](held)
        if (used > 0) steps.shift()
        held = held.subarray(used)
      }
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.3', () => resolve({
    address: `127.0.0.3:${server.address().port}`, asked,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  })))
}
