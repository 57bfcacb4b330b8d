export { makeAuthority, makeCertificate, signCertificate } from './certificates.js';
export { freePort } from './free-port.js';
