// process.stdout and process.stderr: written at once, whatever the state of the event loop.

const { Writable } = require('node:stream');

class Output extends Writable {
  constructor(descriptor) {
    super({ decodeStrings: false, emitClose: false, autoDestroy: false });
    define(this, 'fd', descriptor, true);
    define(this, '_type', 'pipe', true);
    define(this, '_isStdio', true, true);
  }

  _write(chunk, encoding, callback) {
    const isText = typeof chunk === 'string';
    addon.write(descriptors[this.fd], isText && encoding !== 'utf8' ? BufferFrom(chunk, encoding) : chunk);
    callback();
  }

  _destroy(error, callback) {
    callback(error);
  }
}

// While the zygote rehearses, both go to its descriptor 0, which is /dev/null.
const descriptors = { __proto__: null, 1: 0, 2: 0 };

function connectStreams(isReal) {
  descriptors[1] = isReal ? 1 : 0;
  descriptors[2] = isReal ? 2 : 0;
}

function installStreams() {
  const names = ['stdout', 'stderr'];
  for (let i = 0; i < 2; i++) {
    const stream = new Output(i + 1);
    ReflectDefineProperty(process, names[i], {
      __proto__: null, configurable: true, enumerable: true, get: () => stream,
    });
  }
}
