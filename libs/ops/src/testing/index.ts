export { makeAuthority, makeCertificate, signCertificate } from './certificates.js';
export { freePort } from './free-port.js';
export { type Needs, needs, needsThat } from './needs.js';
