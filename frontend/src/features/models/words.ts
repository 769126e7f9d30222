import { addWords } from '@/i18n';
import { models } from '@/i18n/models.en';

addWords({ models });
