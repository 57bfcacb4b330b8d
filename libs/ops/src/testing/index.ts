export { makeAuthority, makeCertificate, signCertificate } from './certificates.js';
