import type { FormatName } from '../../core/format-name.ts';
import { chatToMessages } from './chat-to-messages/chat-to-messages.ts';
import { messagesToChat } from './messages-to-chat/messages-to-chat.ts';
import type { Translation } from './translation.ts';

const translations: readonly Translation[] = [chatToMessages, messagesToChat];

/** @returns undefined for a pair of formats that nothing translates. */
export function translationOf(caller: FormatName, provider: FormatName | null): Translation | undefined {
	return translations.find((one) => one.caller === caller && one.provider === provider);
}
