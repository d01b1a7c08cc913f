/**
 * Classes of words that show the subject of an alarming word. "kill" near a word of `computing` is no threat, but near one of `person`
 * possibly. They extend the lexicon's classes, so that training learns weights for pairs of nearby classes.
 */
const words: Readonly<Record<string, string>> = {
	computing:
		'api app application array backend bash boot branch browser buffer build byte cache callback chrome class client cli cloud cluster cmd code ' +
		'column command commit compiler config console container cpu cron css daemon database debugger dependency deployment desktop directory disk dns ' +
		'docker editor email endpoint excel file firewall firmware folder framework function gateway git github go golang goroutine gpu hash header ' +
		'host html http index inode instance interface java javascript job jest json kernel keyboard kotlin kubernetes laptop library linux ' +
		'localhost log logger loop mac macos memory method microservice middleware migration mock module mongodb mysql namespace network nginx node npm ' +
		'object package packet parser password path pipeline pod pointer port postgres postgresql printer process processes prod production program ' +
		'prompt proxy python query queue queries queues react redis regex registry repo repository request router row ruby runtime rust sandbox script ' +
		'scheduler schema server service session shell signal sigkill sigterm smtp socket software spreadsheet spring sql sqlite ssh stack staging ' +
		'string subprocess syntax systemd table tcp terminal terraform test tests thread timeout transaction typescript ubuntu unix url usb variable ' +
		'vim virtual vm web webpack website wifi windows worker workflow xml yaml zip android angular arrow autocorrect bug cell component csv cursor dns django erlang exception extension feature flag hook ide layout lint macro merge metadata parallelism pi pixel podman react retry router spec sprint stylesheet thread title typescript volume wildcard',
	food:
		'avocado bacon bake baking banana barbecue basil bean beef beer bread breakfast broccoli burger butter cabbage cake candy carrot cheese ' +
		'chicken chili chilli chocolate chop cinnamon coconut coffee cook cooked cookie cooking cream cucumber curry dessert dinner dish dough drink egg eggs ' +
		'espresso fish flour fruit fry garlic ginger grill guacamole ham honey ice juice kitchen lamb latte lemon lettuce lime lunch mango maple ' +
		'marinade marshmallow meal meat meringue milk mushroom noodle nut oil olive onion orange oven pancake parsley pasta pepper pie pineapple pizza ' +
		'popcorn pork potato potatoes pudding pumpkin ramen recipe rice roast salad salmon salt sauce sausage seafood shrimp soup spaghetti spice ' +
		'spinach steak stew strawberry strawberries sugar sushi syrup taco tea toast tofu tomato tomatoes trout turkey vegetable vinegar walnut wine yeast yogurt bagel bean berry biscuit broth cheddar cherry chive cider cocktail cookbook crab cupcake dough duck fennel fig fridge gin gravy hob jam jelly lasagna lobster mint mocha mustard nacho oat omelette oyster pancake pantry peach peanut pear pesto pickle plum quiche risotto roux sage sesame squid tart truffle vanilla vodka waffle',
	fiction:
		'actor actress album anime assassin’s audience author band batman book bond boss-fight ballad cartoon chapter character choreography chords comedian comedy comic ' +
		'concert costume creeper creed detective diablo director disney dragon drama dungeon elf elves elden episode fairy fantasy fiction fictional ' +
		'film fortnite ganon genre goblin hamlet hero hobbit hogwarts horror legend level limerick lyrics macbeth mafia magic magician manga marvel ' +
		'minecraft minion mission monster movie musical mystery myth mythology netflix novel npc opera orc painting pirate play player playstation plot ' +
		'podcast poem pokemon poetry potter protagonist quest rap rebecca robot role romance scene screenplay script sequel series shakespeare skyrim song ' +
		'sonnet spell stage star story superhero superman sword symphony tale theatre theater thriller trailer troll tv unicorn vampire video villain warcraft ' +
		'warlock werewolf witcher wizard xbox zelda zombie zombies adventure armour armor avatar barbie blender borderlands bowser buffy cast castle cinema civilization clue comics creature cyrano dice dune fan fans gotham heist hitman-game joker kratos lego lightsaber mario mask monologue monopoly mortal-kombat nintendo npc pantomime pixar potion prank prop puppet quidditch raid raider runescape scream sequel sims skit solo spoiler stage stunt tarantino tomb triceratops twist wonder',
	household:
		'antique apartment appliance attic balcony bathroom battery batteries bed bedsheet bike blanket boat bolt bookshelf bottle brick broom bucket cable camera candle car carpet ' +
		'ceiling chair closet clothes coat concrete couch cupboard curtain cushion desk dishwasher door drain dress drill driveway drywall engine fabric faucet fence fireplace flat floor ' +
		'frame freezer fridge furniture garage glass glue hallway hammer hammock headphones heater house iron jacket jar jeans key kiln ladder lamp laundry leather ' +
		'lego lid lightbulb lock machine mattress microwave mirror motor mould mold nail oven paint pan paper pen phone picture pillow pipe plaster plastic plate ' +
		'plug pump radio roof rope rug sail screw sewing shelf shirt shoe shower sink skirting soap sofa stain stapler stove suit suitcase table tap tape tent tile ' +
		'toilet tool toy tv umbrella vacuum varnish wall wallpaper wardrobe washing window wire wood yarn bag balloon barn bag basin bath bathtub bench blender blind bolt bowl box bracelet canvas cellar clothing cork crate cutlery deck dinghy doorbell dustbin dye filter gift gutter haircut hem hinge hook horseshoe hose insulation kettle kit knob lighter linen mug napkin parcel pillowcase pram present radiator rag raincoat rail railing razor rubber sandal scarf scissors screwdriver seam sheet sleeve sneaker sock spoon sponge string sweater switch tablecloth thermostat thread thermos toaster towel trainer tray trousers vase veneer wheel zipper',
	nature:
		'algae animal-shelter ant ants aphid aphids bamboo bee bees bird bug bugs bush cat caterpillar clay climate cockroach-bait compost crop crow dandelion deer dog dolphin ' +
		'duck eagle earth earthquake farm fern fertiliser fertilizer flea fleas flower forest fox frog fungus fungi garden germ germs grass hamster hedge horse insect island ' +
		'ivy lavender lawn leaf leaves lice lion locust mammal mice mole moon mosquito mosquitoes moss moth moths mountain mouse ocean octopus orca orchid ' +
		'owl pest pests pigeon planet plant pond puppy rabbit raccoon rain rat reef river rose sea seahorse seed shark sheep slug slugs snail snake snow soil ' +
		'species spider squirrel storm sun termite termites tick tree tulip volcano volcanoes wasp wasps weather weed weeds whale wind wolf wolves worm yard badger bat beehive beetle birch box breeze butterfly cactus canyon carp cloud coast coral crab crocodile dawn desert dew drought elephant falcon feather field fog goat hamster hen hill hive hornet ice kitten lake lamb lizard marsh meadow mud nest oak otter parrot peacock pine pool pup robin salmon sand seal shell sky spring squid sunset swan tide toad turtle twig valley vine vineyard warbler water wave wood',
	sport:
		'athlete badminton ball baseball basketball bat bishop boxing cards catan champion championship checkers chess club coach court cricket cycling dart deck defender dice ' +
		'dunk fencing football footballer game games goal goalkeeper golf golfer gym hiking hockey inning judo karate king kick knight league marathon match mma ninja olympic olympics ' +
		'opponent opponents paintball pawn penalty pitch pitcher poker pool puck puzzle queen race racket referee rook rugby runner runners running score season serve ski skiing ' +
		'snooker soccer squash stadium surf surfing swim swimming team tennis tournament train training volleyball weightlifting workout wrestling xiangqi yoga archery athletics bowling climbing crossword dance darts diving dribble exercise field fitness frisbee goalie golf handball javelin jenga jog kickoff lap medal overtime pilates pinball pingpong punching rally relay riddle ring rowing rugby sailing scrabble skateboard snowboard solitaire sparring sprint squat sudoku treadmill trophy volley wrestle',
	history:
		'ancient army assyrian atomic aztec battle bc caesar cathedral century centuries civil cold colonial columbus communist constitution crusade decade dynasty ' +
		'egypt egyptian emperor empire era france french german germany greece greek guernica hiroshima historian historical history hitler holocaust inquisition jfk julius ' +
		'kennedy king lincoln medieval mongol monarch museum napoleon nazi norman ottoman pearl peace pharaoh philosopher president prince princess queen rebellion regime reign ' +
		'republic revolution roman rome rwandan samurai siege soviet spanish stalin stalingrad treaty trial trojan tsar tudor ukraine union victorian vietnam viking ' +
		'war wars witch wwi wwii',
	knowledge:
		'according analyse analysis analyze article biology cause caused causes chemistry compare concept course define definition describe dictionary difference discuss discussion ' +
		'ethics etymology evidence exam example examples explain explained fact facts grammar idiom invented journalist kids language law laws lecture legal legally lesson linguistics ' +
		'literature mean meaning means meant notion origin paper penalty phrase physics policy professor psychology pupil quiz report research researchers saying scholar school science ' +
		'scientist statistics student students study summarise summarize summary teacher term terminology textbook theory thesis timeline translate understand university vocabulary word',
	protection:
		'alarm aid anonymous-hotline authorities avoid aware awareness block charity checklist childproof clinic comfort consent counsellor counselling counselor crisis defence defend defense detect ' +
		'detection deter doctor emergency firefighter fix guard harmless heal help helpline hospital hotline insurance insurer lawyer law-abiding legal lifeguard monitor nurse patch police ' +
		'prevent prevented preventing prevention protect protected protecting protection quit recognise recognize recover recovery rehab rehabilitation report reporting rescue resist rights safe safely ' +
		'safeguard safety save secure security shelter sign signs spot stop stopping support survive survivor symptom symptoms therapist therapy treat treatment vaccine victim victims warn warning',
	mood:
		'afternoon amazing appetite attention awesome bargain boredom bored buzz calories career competition compliment congratulate conversation deadline dream energy enthusiasm evening exam ' +
		'fat fun funny habit happiness headache heat hilarious homework hunger idea interview jet joke killer-app laugh laughing laughter layover lol metaphor momentum mood morning motivation music ' +
		'nap nerves night noise party performance pitch presentation procrastination productivity promotion ratings sales silence sleep spotlight stress suspense tax taxes time toast traffic vibe ' +
		'vibes wait weekend workload applause brainstorm budget burnout chat comfort commute confidence craving curiosity diet discount dread gossip gratitude grin hiccup hobby hug impression inbox inspiration intention introvert invitation journal laziness morale nerve patience pep pun resolution rumour rumor silliness smalltalk smile stereotype surprise tan tension wedding worry yawn',
	body:
		'abdomen anatomy antibiotics arm artery asthma back bacteria blood bone bones brain breath calf cancer cell cells chest cholesterol cold cough cramp dentist diabetes diet digest digestion disease ' +
		'ear eye eyes fever finger flu foot gum gums hair hand head headache heart hip hormone immune infection insulin jaw joint kidney knee leg liver lung medication medicine migraine muscle neck nose ' +
		'organ pain patient pharmacist pharmacy pregnancy pressure protein puberty pulse scan shoulder sinus skin skull sore spine stomach surgeon surgery throat tissue tooth toe vein virus vitamin wrinkle wound',
	person:
		'actress boyfriend brother celebrity child children classmate classmates colleague cop coworker daughter dad ex family father fiance friend girlfriend guy him her his husband judge kid kids ' +
		'landlord man men mother mom mum neighbor neighbour officer parents people person politician roommate senator sister someone somebody son stepfather stranger them teacher teenager tourist uncle ' +
		'wife witness woman women',
	covert:
		'alibi anonymously caught consent-less covertly detected detection-free evade illegal illegally noticed noticing secretly silently stolen suspicion trace traceable untraceable undetected unnoticed ' +
		'unauthorized untraced victimless without',
};

/** Words of each class, in singular and plural. */
export const contextClasses: readonly (readonly [name: string, words: readonly string[]])[] = Object.entries(words).map(([name, list]) => {
	const both = list.split(' ').flatMap((word) => (/^[a-z]+$/.test(word) ? [word, `${word}s`] : []));
	return [name, [...new Set(both)]];
});
