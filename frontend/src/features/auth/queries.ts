import { useQuery } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { NewPerson } from '@/api/contract/accounts';

const OPEN = '/api/v1/invitations/open/';
const SIGN_UP = '/api/v1/invitations/sign-up/';
const ACCEPT = '/api/v1/invitations/accept/';
const FORGOTTEN = '/api/v1/auth/forgotten/';
const RESET = '/api/v1/auth/reset/';
const RESET_OPEN = '/api/v1/auth/reset/open/';

/**
 * The offer of an invitation link. Its token is sent in a body, as addresses are in logs; and it is not read again by
 * itself.
 */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => (await api.POST(OPEN, { body: { token } })).data ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export const signUp = async (body: NewPerson) => (await api.POST(SIGN_UP, { body })).data;
export const accept = async (token: string) => (await api.POST(ACCEPT, { body: { token } })).data;

export const useSendsMail = () => $api.useQuery('get', FORGOTTEN).data?.sends_mail;
export const askForLink = (email: string) => api.POST(FORGOTTEN, { body: { email } });

export function useResetOffer(token: string) {
  return useQuery({
    queryKey: ['reset', token],
    queryFn: async () => (await api.POST(RESET_OPEN, { body: { token } })).data ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export const setPassword = (token: string, password: string) => api.POST(RESET, { body: { token, password } });
