import '../words/index';
import './words';

export { LabelsPage } from './LabelsPage';
