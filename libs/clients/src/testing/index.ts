export { checkedProxyHeader, proxyHeader, type TestProxyHeader, tlv } from './proxy-header.js';
