// Sections 2, 3, 13.1, 13.2, 14, 16: what is refused before anything runs, and with which words.
import { table } from './lib/table.mjs'

const absent = 'rt-00000000-0000-4000-8000-000000000000'
const refuse = (s, fn, name, payload, ...message) => ({ s, name: `${fn}: ${name}`, ask: [`code-runner::${fn}`, payload], error: 'invalid_request', message })
const run = (name, payload, ...message) => refuse('2.2', 'run', name, payload, ...message)
const register = (s, name, more, ...message) =>
  refuse(s, 'register_function', name, { function_id: 'refused::f', lang: 'node', source: 'function handler() {}', ...more }, ...message)
const teardown = (name, payload, ...message) => refuse('14', 'teardown', name, payload, ...message)
const text = (length, letter = 'x') => letter.repeat(length)
const formats = ['request_format', 'response_format']
const own = ['run', 'teardown', 'register_function', 'inject-guidance', 'ui-content', 'on-config-change']

table('requests of run', [
  run('the payload is text', 'code', 'object'),
  run('the payload is a number', 1, 'object'),
  run('the payload is an array', [], 'object'),
  run('the payload is null', null, 'object'),
  run('no code', { lang: 'node' }, 'code'),
  run('code is a number', { lang: 'node', code: 1 }, 'code', 'string'),
  run('code is null', { lang: 'node', code: null }, 'code'),
  run('neither lang nor runtime_id', { code: '' }, '`lang` is required', 'node', 'python'),
  run('lang is null and so is runtime_id', { code: '', lang: null, runtime_id: null }, '`lang` is required'),
  run('another lang', { code: '', lang: 'ruby' }, 'lang', 'node', 'python'),
  run('lang in capitals', { code: '', lang: 'Node' }, 'lang'),
  run('lang is a number', { code: '', lang: 1 }, 'lang'),
  run('keep is null', { code: '', lang: 'node', keep: null }, 'keep', 'boolean'),
  run('keep is text', { code: '', lang: 'node', keep: 'true' }, 'keep', 'boolean'),
  run('keep is a number', { code: '', lang: 'node', keep: 1 }, 'keep'),
  run('timeout_ms is negative', { code: '', lang: 'node', timeout_ms: -1 }, 'timeout_ms'),
  run('timeout_ms is a fraction', { code: '', lang: 'node', timeout_ms: 1.5 }, 'timeout_ms'),
  run('timeout_ms is text', { code: '', lang: 'python', timeout_ms: '5' }, 'timeout_ms'),
  run('memory_mb is negative', { code: '', lang: 'python', memory_mb: -1 }, 'memory_mb'),
  run('memory_mb is text', { code: '', lang: 'python', memory_mb: '64' }, 'memory_mb'),
  run('runtime_id is a number', { code: '', runtime_id: 7 }, 'runtime_id'),
  run('python code over 1 MiB', { lang: 'python', code: text(1048577, '#') }, '1048577', 'max 1048576'),
  { s: '3.3', name: 'run: an unknown id is named to who sent it', ask: ['code-runner::run', { code: '', runtime_id: absent }], error: 'runtime_not_found', message: absent, id: true },
  { s: '4', name: 'run: an empty id is an unknown id', ask: ['code-runner::run', { code: '', runtime_id: '' }], error: 'runtime_not_found' },
  { s: '4', name: 'run: memory_mb with an unknown id is not found', ask: ['code-runner::run', { code: '', runtime_id: absent, memory_mb: 64 }], error: 'runtime_not_found', id: true },
  { s: '4', name: 'memory_mb with a runtime', steps: async (t) => t.fails('invalid_request', 'memory_mb', 'code-runner::run', { code: '', runtime_id: await t.keep(), memory_mb: 64 }) },
  {
    s: '3.4', name: 'lang contradicts the runtime',
    steps: async (t) => t.fails('invalid_request', [t.lang, 'cannot be mixed'], 'code-runner::run', { code: '', runtime_id: await t.keep(), lang: t.pick({ node: 'python', python: 'node' }) }),
  },
  { s: '4', name: 'the same lang with a runtime', steps: async (t) => t.on(await t.keep(), '', {}, { lang: t.lang }) },
  { s: '2.1', name: 'unknown fields are ignored', node: 'return 1', python: 'result = 1', more: { payload: 1, namespace: 'x', env: {}, network: true, image: 'y' }, want: { result: 1 } },
  { s: '2.2', name: 'null where null is allowed', node: 'return 1', python: 'result = 1', more: { runtime_id: null, timeout_ms: null, memory_mb: null }, want: { result: 1 } },
  { s: '2.2', name: 'memory_mb for node is ignored', node: 'return 1', more: { memory_mb: 1 }, want: { result: 1 } },
])

table('requests of register_function', [
  refuse('2.3', 'register_function', 'the payload is text', 'x', 'object'),
  register('2.3', 'no function_id', { function_id: undefined }, 'function_id'),
  register('2.3', 'function_id is a number', { function_id: 5 }, 'function_id'),
  register('2.3', 'no source', { source: undefined }, 'source'),
  register('2.3', 'source is null', { source: null }, 'source'),
  register('2.3', 'no lang', { lang: undefined }, 'lang'),
  register('2.3', 'lang is null', { lang: null }, 'lang'),
  register('2.3', 'another lang', { lang: 'lua' }, 'lang'),
  register('2.3', 'description is a number', { description: 1 }, 'description'),
  register('13.1', 'no ::', { function_id: 'greet' }, 'has no namespace', 'my-app::greet'),
  register('13.1', 'one colon', { function_id: 'app:greet' }, 'has no namespace'),
  register('13.1', 'an empty head', { function_id: '::greet' }, 'has no namespace'),
  register('13.1', 'an empty id', { function_id: '' }, 'has no namespace'),
  register('13.1', 'nothing after ::', { function_id: 'app::' }),
  register('13.1', 'capitals', { function_id: 'MyApp::f' }, 'is not one worker name', 'my-app::'),
  register('13.1', 'a space', { function_id: 'my app::f' }, 'is not one worker name'),
  register('13.1', 'a colon inside', { function_id: 'a:b::f' }, 'is not one worker name'),
  register('13.1', 'a leading dot', { function_id: '.x::f' }, 'is not one worker name'),
  register('13.1', 'two dots', { function_id: 'a..b::f' }, 'is not one worker name'),
  register('13.1', 'a slash', { function_id: 'a/b::f' }, 'is not one worker name'),
  register('13.1', '65 letters', { function_id: `${text(65, 'a')}::f` }, 'is not one worker name'),
  register('13.1', '33 letters of two bytes', { function_id: `${text(33, 'é')}::f` }, 'is not one worker name'),
  register('13.1', '513 bytes', { function_id: `app::${text(508)}` }, '513', 'the limit is 512', `app::${text(35)}`),
  register('13.1', 'the length is in bytes', { function_id: `app::${text(254, 'é')}` }, '513', 'the limit is 512'),
  register('13.1', 'a description of 4097 bytes', { description: text(4097) }, '4097', 'the limit is 4096'),
  ...formats.flatMap((format) => [
    register('13.2', `${format} is text`, { [format]: 'object' }, format, 'OBJECT', 'a string'),
    register('13.2', `${format} is an array`, { [format]: [] }, format, 'OBJECT', 'an array'),
    register('13.2', `${format} is a number`, { [format]: 1 }, format, 'OBJECT', 'a number'),
    register('13.2', `${format} is a boolean`, { [format]: true }, format, 'OBJECT', 'a boolean'),
    register('13.2', `${format} is empty`, { [format]: {} }, format, 'constrains nothing'),
    register('13.2', `${format} has no keyword`, { [format]: { title: 'x', description: 'y' } }, format, 'constrains nothing'),
    register('13.2', `${format} over 16384 bytes`, { [format]: { type: 'object', title: text(16384) } }, format, 'the limit is 16384'),
  ]),
  ...own.map((name) => register('13.3', `the worker's own ${name}`, { function_id: `code-runner::${name}` }, `code-runner::${name}`, 'already')),
  ...['node', 'python'].map((lang) => register('13.4', `a doomed request takes no slot (${lang})`, { lang, function_id: 'NO::f' }, 'is not one worker name')),
])

table('requests of teardown, ui-content, inject-guidance', [
  teardown('neither', {}, 'exactly one of', 'runtime_id', 'namespace'),
  teardown('both', { runtime_id: absent, namespace: 'app' }, 'exactly one of', 'runtime_id', 'namespace'),
  teardown('both null', { runtime_id: null, namespace: null }, 'exactly one of'),
  teardown('the payload is text', 'app', 'object'),
  teardown('runtime_id is a number', { runtime_id: 1 }, 'runtime_id'),
  teardown('namespace is a number', { namespace: 1 }, 'namespace'),
  teardown('an empty namespace', { namespace: '' }, 'names no prefix'),
  teardown('only colons', { namespace: '::' }, 'names no prefix'),
  teardown('capitals', { namespace: 'MyApp' }, 'is not one worker name', 'my-app::'),
  teardown('a function id', { namespace: 'app::f' }, 'is not one worker name'),
  teardown('a leading dot', { namespace: '.x' }, 'is not one worker name'),
  { s: '14', name: 'teardown: nothing behind the namespace', ask: ['code-runner::teardown', { namespace: 'nobody' }], error: 'runtime_not_found', message: 'nobody' },
  { s: '14', name: 'teardown: an unknown id', ask: ['code-runner::teardown', { runtime_id: absent }], error: 'runtime_not_found', message: absent, id: true },
  refuse('16.2', 'ui-content', 'no path', {}, 'path'),
  refuse('16.2', 'ui-content', 'path is a number', { path: 1 }, 'path'),
  {
    s: '16.2', name: 'ui-content: an unknown asset', langs: ['node'],
    steps: async (t) => {
      const { error } = await t.call('code-runner::ui-content', { path: 'code-runner/../page.js' })
      if (!error?.message.includes('UNKNOWN_UI_ASSET')) throw new Error(JSON.stringify(error))
    },
  },
  refuse('16.1', 'inject-guidance', 'a prompt that is no text', { generate: { system_prompt: 1 } }, 'system_prompt'),
])
