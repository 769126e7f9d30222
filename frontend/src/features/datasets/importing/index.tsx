import '../words';
import './words';

export { ImportPage } from './ImportPage';
