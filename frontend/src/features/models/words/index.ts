import { addWords } from '@/i18n';
import { models } from './models.en';

addWords({ models });
