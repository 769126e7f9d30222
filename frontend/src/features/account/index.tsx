import './words/index';

export { AccountPage } from './AccountPage';
export { S3KeysPage } from './s3Keys/S3KeysPage';
export { TokensPage } from './tokens/TokensPage';
