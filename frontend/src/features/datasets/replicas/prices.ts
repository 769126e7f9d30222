import { useTranslation } from 'react-i18next';

/** Words of a price; an amount that nobody knows says so. */
export function usePrice() {
  const { t, i18n } = useTranslation();
  return (amount: string | null | undefined, currency: string) => {
    if (amount == null) return t('replicas.unknownPrice');
    if (!currency) return new Intl.NumberFormat(i18n.language).format(Number(amount));
    return new Intl.NumberFormat(i18n.language, { style: 'currency', currency }).format(Number(amount));
  };
}
