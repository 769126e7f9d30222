import '../words/index';
import './words';

export { ImportPage } from './ImportPage';
