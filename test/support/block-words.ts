/**
 * 200 words that operators block: profanity, drugs, weapons, violence, fraud, gambling, and words that two neighbouring words of a sentence
 * spell.
 */
export const blockWords = `
	abuse ammo ammonium amphetamine anal anthrax arsehole arson ass asshole assassin assault
	balls bastard bestiality bitch bitcoin blackmail bloodbath blowjob bloody bollocks bomb bondage boner boob boobs booze
	brothel bugger bullshit bum butt butthead cannabis carjack cartel carding casino cocaine cock cocksucker coke condom
	counterfeit crack crackhead crap creampie cum cunt cyanide damn darkweb deepfake dick dickhead dildo dope douche drunk
	dumbass ecstasy ejaculate erotic escort execute explosive extortion fart fentanyl fetish firearm foreplay fraud fuck
	fucker gamble gangbang genital goddamn gore grenade groin groper gun hacker handgun handjob hell hentai heroin hitman
	homicide hooker horny hostage idiot incest jackass jerk jihad keylogger kidnap kill killer kinky knife
	libido lolita loser lsd lynch malware manslaughter marijuana massacre masturbate meth milf molest moron murder
	naked napalm narcotic nazi nipple nowhere nude nympho opium orgasm orgy overdose paedophile panties penis perv
	phishing piss pistol poison poker porn prick prostitute pube pussy queer racist ransomware rape rapist rectum revolver rifle
	roulette sadist scam scumbag semen sex sexy shed shell shit shitty shotgun skank slag slave slut smut smuggle sniper sodomy
	spank steroid stripper suicide tampon terrorist therapist thug tit torture trafficking tramp turd twat vagina viagra voyeur
	wank weapon weed wed whore willy
`
	.trim()
	.split(/\s+/);
