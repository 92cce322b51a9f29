// The main script of the node zygote. It only gets the harness going, under a name that is not a path.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { compileFunction } = require('node:vm');

const source = readFileSync(join(__dirname, 'harness.js'), 'utf8');
const harness = compileFunction(source, ['require', 'addon', 'main'], { filename: 'node:code-runner' });
harness(require, require(join(__dirname, 'node-guest.node')), module);
